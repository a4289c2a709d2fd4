import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'chai'

/** Prints which of these packages the modules in its arguments load, and the number of files. */
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
  const light = ['@orderflow/service-kit', '@orderflow/service-kit/log', '@orderflow/service-kit/trust']
  it(`${light.join(', ')} do not load them`, async () => {
    const { files, packages } = await broughtBy(...light)
    expect(files).to.be.above(5)
    expect(packages).to.deep.equal([])
  })

  it('modules that use them load them', async () => {
    expect((await broughtBy('@orderflow/service-kit/operations')).packages).to.include('@platformatic/kafka')
    expect((await broughtBy('@orderflow/service-kit/sidecar')).packages).to.include.members([
      '@grpc/grpc-js',
      '@dapr/dapr',
    ])
  })
})
