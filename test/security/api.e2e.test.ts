import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { urlOf } from '@orderflow/stack'
import { testedServices } from '@orderflow/test-kit'
import { expect } from 'chai'
import { succeeded } from '../specs/operations/commands.ts'
import { type LocalCheckout, localCheckout, type StartedCheckout } from '../support/checkouts/local-checkout.ts'
import { bringTools, schemathesis } from './support/tools.ts'

const tested = await testedServices()
const scopes = [...new Set(tested.flatMap(({ parts }) => parts.routes.map(({ operation }) => operation.scope)))]
const examples = 500

await bringTools()

for (const closed of [false, true]) {
  describe(`the API of ${closed ? 'a closed' : 'an open'} stack`, () => {
    let checkout: LocalCheckout
    let stack: StartedCheckout
    let folder: string
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'schemathesis-'))
      checkout = await localCheckout(closed ? 'api-closed' : 'api')
      stack = await checkout.start(...(closed ? ['Auth__Mode=closed'] : []))
    })
    after(async () => {
      await checkout?.remove()
      rmSync(folder, { recursive: true })
    })

    async function credential(): Promise<string[]> {
      if (!closed) return []
      const options = ['--scopes', scopes.join(' '), '--tenant', 'acme']
      const made = succeeded(await stack.orderflow(['api-key', 'create', 'test', ...options]))
      return ['--header', `Authorization: Bearer ${/^ofk_\S+$/m.exec(made)?.[0]}`]
    }

    for (const service of tested) {
      it(`conforms to the OpenAPI document of ${service.name} for any request`, async function () {
        this.timeout(15 * 60_000)
        const config = join(folder, `${service.name}.toml`)
        writeFileSync(config, configOf(service))
        const document = join(folder, `${service.name}.json`)
        writeFileSync(document, await testableOpenApi(urlOf(stack, service.name)))
        const args = [
          ...['--config-file', config, 'run', document, '--url', urlOf(stack, service.name)],
          ...['--checks', 'all', '--max-examples', String(examples), '--no-color', ...(await credential())],
        ]
        const { code, output } = await schemathesis(args, folder)
        expect(code, output.slice(output.indexOf('FAILURES'))).to.equal(0)
        expect(Number(/([\d,]+) generated/.exec(output)?.[1])).to.be.above(examples)
      })
    }
  })
}

/** Returns a service’s OpenAPI document with only the parts that the tool can test. Endless streams and lines of JSON are left out. */
async function testableOpenApi(url: string): Promise<string> {
  const document = await (await fetch(`${url}/openapi.json`)).text()
  return JSON.stringify(
    JSON.parse(document, (key, value) => {
      if (key === 'application/x-ndjson') return undefined
      // The tool would wait forever for the end of such a response.
      if (value?.responses?.['200']?.content?.['text/event-stream']) return undefined
      return value
    }),
  )
}

/** Returns the tool’s settings. A valid request may still be rejected because of stored data, for example if its key was used before. */
function configOf({ parts }: (typeof tested)[number]): string {
  const lists = parts.routes.filter(({ operation: { method, path } }) => method === 'get' && !path.includes('{'))
  // The schema cannot express three rules: the limit of 15 digits, the allowed decimals and the allowed events.
  const withBody = parts.routes.filter(({ operation: { inputs } }) =>
    inputs.some(({ receives, body }) => receives || body),
  )
  const allowed = ['401', '403', '404', '409', '410', '422', '429', '503']
  const accepted = (statuses: string[]) => `expected-statuses = ${JSON.stringify(statuses)}`
  return [
    '[checks.positive_data_acceptance]',
    accepted(['2xx', ...allowed]),
    ...[...lists, ...withBody].flatMap(({ operation: { method, path } }) => [
      '[[operations]]',
      `include-name = "${method.toUpperCase()} ${path}"`,
      `checks.positive_data_acceptance.${accepted(['2xx', '400', '413', ...allowed])}`,
    ]),
  ].join('\n')
}
