import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { urlOf } from '@orderflow/stack'
import { expect } from 'chai'
import { succeeded } from '../specs/commands.ts'
import { type LocalCheckout, localCheckout, type StartedCheckout } from '../support/checkouts/local-checkout.ts'
import { testedServices } from '../support/tested-services.ts'
import { bringTools, schemathesis } from './support/tools.ts'

const tested = await testedServices()
const scopes = [...new Set(tested.flatMap(({ parts }) => parts.routes.map(({ operation }) => operation.scope)))]
const examples = 500

await bringTools()

for (const closed of [false, true]) {
  describe(`the operations of ${closed ? 'a closed' : 'an open'} stack, by their OpenAPI documents`, () => {
    let checkout: LocalCheckout
    let stack: StartedCheckout
    let folder: string
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'schemathesis-'))
      checkout = await localCheckout()
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
      it(`of ${service.name} do what they say, whatever is sent`, async () => {
        const config = join(folder, `${service.name}.toml`)
        writeFileSync(config, configOf(service))
        const document = join(folder, `${service.name}.json`)
        writeFileSync(document, await writableOpenApi(urlOf(stack, service.name)))
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

/** A service's document, without bodies of lines, which the tool cannot write. */
async function writableOpenApi(url: string): Promise<string> {
  const leaveOut = (key: string, value: unknown) => (key === 'application/x-ndjson' ? undefined : value)
  return JSON.stringify(JSON.parse(await (await fetch(`${url}/openapi.json`)).text(), leaveOut))
}

/** What is valid by its schema may be refused for what is known, which no schema says: a cursor of no list, a key that was used. */
function configOf({ parts }: (typeof tested)[number]): string {
  const lists = parts.routes.filter(({ operation: { method, path } }) => method === 'get' && !path.includes('{'))
  // What its body may be is said by no schema of the document.
  const read = parts.routes.filter(({ operation: { inputs } }) =>
    // `multipleOf` for decimals would be judged with the errors of doubles.
    inputs.some(({ receives, body }) => receives || JSON.stringify(body?.schema)?.includes('"x-decimals"')),
  )
  const accepted = (statuses: string[]) => `expected-statuses = ${JSON.stringify(statuses)}`
  return [
    '[checks.positive_data_acceptance]',
    accepted(['2xx', '401', '403', '404', '409', '422', '429', '503']),
    ...[...lists, ...read].flatMap(({ operation: { method, path } }) => [
      '[[operations]]',
      `include-name = "${method.toUpperCase()} ${path}"`,
      `checks.positive_data_acceptance.${accepted(['2xx', '400', '403', '404', '409', '413', '422', '429', '503'])}`,
    ]),
  ].join('\n')
}
