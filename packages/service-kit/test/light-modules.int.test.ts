import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'chai'

const large = ['@platformatic/kafka', '@grpc/grpc-js', '@dapr/dapr']

/** A program that loads the modules in its arguments. It prints the addresses of the loaded files. */
const program = `
import { registerHooks } from 'node:module'
const loaded = []
registerHooks({
  load(url, context, next) {
    loaded.push(url)
    return next(url, context)
  },
})
for (const module of process.argv.slice(1)) await import(module)
console.log(JSON.stringify(loaded))
`

async function broughtBy(...modules: string[]): Promise<string[]> {
  const args = ['--input-type=module', '--eval', program, ...modules]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: new URL('..', import.meta.url) })
  return JSON.parse(stdout)
}

const largeOf = (files: string[]) => large.filter((name) => files.some((url) => url.includes(`/${name}/`)))

describe('large modules, such as Kafka’s client and Dapr’s protocol', () => {
  const light = [
    '@orderflow/kafka-log',
    '@orderflow/service-kit',
    '@orderflow/service-kit/log',
    '@orderflow/service-kit/setup',
  ]
  it(`the light modules ${light.join(', ')} do not load the large modules`, async () => {
    const files = await broughtBy(...light)
    expect(files).to.have.length.above(5)
    expect(largeOf(files)).to.deep.equal([])
  })

  it('the module `operations` loads the large modules', async () => {
    expect(largeOf(await broughtBy('@orderflow/service-kit/operations'))).to.have.members(large)
  })

  it('the module `setup` does not load the schemas of events, so commands can report an invalid schema', async () => {
    const readsSchemas = (files: string[]) => files.some((url) => url.includes('/envelope/src/schemas/'))
    expect(readsSchemas(await broughtBy('@orderflow/service-kit/setup'))).to.equal(false)
    expect(readsSchemas(await broughtBy('@orderflow/service-kit/application'))).to.equal(true)
  })
})
