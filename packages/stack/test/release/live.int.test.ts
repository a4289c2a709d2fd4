import { expect } from 'chai'
import { CliError } from '../../src/base/error.ts'
import { eventually } from '../../src/base/run-tool.ts'
import { requireLive } from '../../src/release/live.ts'
import { contextFor, digestOf, type FakePlatform, startFakePlatform } from './support/fake-platform.ts'

describe('requireLive', () => {
  let fake: FakePlatform
  beforeEach(async () => {
    fake = await startFakePlatform({ bootTimeoutMs: 400 })
  })
  afterEach(() => fake.close())

  async function releaseWith(configVars: Record<string, string>) {
    const context = contextFor(fake)
    context.out.hide(['secret-of-the-store'])
    await context.platform.patchConfigVars(configVars)
    await context.platform.releaseImage(digestOf('a'))
    const live = requireLive(context, await context.platform.app()).catch((error: unknown) => error)
    return { context, live }
  }

  it('returns the version of the release', async () => {
    const { live } = await releaseWith({ A: '1' })
    expect(await live).to.equal(3)
  })

  const failures: [behaviour: string, log: RegExp][] = [
    ['crash', /Process exited with status 1/],
    ['deaf', /Error R10 \(Boot timeout\)/],
  ]
  for (const [behaviour, log] of failures) {
    it(`fails with the last lines of the log if the config var SIMULATE of the process is ${behaviour}`, async () => {
      const { live } = await releaseWith({ SIMULATE: behaviour })
      const error = await live
      expect(error).to.be.instanceOf(CliError).and.include({ code: 'not-live' })
      expect((error as CliError).message)
        .to.match(/^the web process of v3 crashed/)
        .and.match(log)
      expect((error as CliError).nextStep).to.include('./orderflow app-logs order --app my-app')
    })
  }

  it('waits while only the sidecar is missing, and then reports a crash of the web process', async () => {
    const { context, live } = await releaseWith({ SIMULATE: 'sick' })
    await eventually(() => context.text().includes('readyz answers 503'), 'the service to answer without its sidecar')
    await context.platform.patchConfigVars({ SIMULATE: 'crash' })
    expect(((await live) as Error).message).to.match(/crashed/)
  })

  it('ends at Ctrl-C', async () => {
    const { context, live } = await releaseWith({ SIMULATE: 'sick' })
    context.stop()
    expect(await live).to.include({ code: 'interrupted' })
  })
})
