import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'chai'

/** Prints the files of Kafka's client that a module brings along. */
const program = (module: string) => `
import { registerHooks } from 'node:module'
const loaded = []
registerHooks({
  load(url, context, next) {
    loaded.push(url)
    return next(url, context)
  },
})
await import('${module}')
console.log(JSON.stringify({ all: loaded.length, client: loaded.filter((url) => url.includes('/@platformatic/kafka/')) }))
`

async function filesOf(module: string): Promise<{ all: number; client: string[] }> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program(module)], {
    cwd: new URL('../..', import.meta.url),
  })
  return JSON.parse(stdout)
}

describe('Kafka’s client, whose modules take 55 MB and most of a second', () => {
  for (const module of ['@orderflow/service-kit', '@orderflow/service-kit/log', '@orderflow/service-kit/trust'])
    it(`does not come with ${module}`, async () => {
      const { all, client } = await filesOf(module)
      expect(all).to.be.above(5)
      expect(client).to.deep.equal([])
    })

  it('comes with whoever reads the log', async () => {
    expect((await filesOf('@orderflow/service-kit/operations')).client).not.to.deep.equal([])
  })
})
