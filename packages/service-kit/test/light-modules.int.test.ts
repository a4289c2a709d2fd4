import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'chai'

/** A program that loads the modules in its arguments. It prints the large packages that these modules load, and the number of loaded files. */
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
const heavy = ['@platformatic/kafka', '@grpc/grpc-js', '@dapr/dapr']
console.log(JSON.stringify({
  files: loaded.length,
  packages: heavy.filter((name) => loaded.some((url) => url.includes('/' + name + '/'))),
}))
`

async function broughtBy(...modules: string[]): Promise<{ files: number; packages: string[] }> {
  const args = ['--input-type=module', '--eval', program, ...modules]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: new URL('..', import.meta.url) })
  return JSON.parse(stdout)
}

describe('large modules, such as Kafka’s client and Dapr’s protocol', () => {
  const light = [
    '@orderflow/kafka-log',
    '@orderflow/service-kit',
    '@orderflow/service-kit/log',
    '@orderflow/service-kit/trust',
  ]
  it(`the light modules ${light.join(', ')} do not load the large modules`, async () => {
    const { files, packages } = await broughtBy(...light)
    expect(files).to.be.above(5)
    expect(packages).to.deep.equal([])
  })

  it('the modules `operations` and `sidecar` load the large modules', async () => {
    expect((await broughtBy('@orderflow/service-kit/operations')).packages).to.include('@platformatic/kafka')
    expect((await broughtBy('@orderflow/service-kit/sidecar')).packages).to.include.members([
      '@grpc/grpc-js',
      '@dapr/dapr',
    ])
  })
})
