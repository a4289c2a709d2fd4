import { expect } from 'chai'
import type { RequestHandler } from 'express'
import { CliError } from '../../../src/base/error.ts'
import { eventually } from '../../../src/base/run-tool.ts'
import { listProcesses, openApp, startWeb, stopWeb } from '../../../src/release/operations.ts'
import { contextFor, digestOf, type FakePlatform, startFakePlatform } from '../support/fake-platform.ts'

const failing =
  (status: number, body: object | string, headers = {}): RequestHandler =>
  (_request, response) =>
    void response.status(status).set(headers).send(body)

async function refusal(work: Promise<unknown>): Promise<CliError> {
  const error = await work.catch((caught: unknown) => caught)
  if (error instanceof CliError) return error
  throw new Error(`no refusal: ${error}`)
}

describe('the client of the platform’s API', () => {
  let fake: FakePlatform
  beforeEach(async () => {
    fake = await startFakePlatform()
  })
  afterEach(() => fake.close())

  const dynoStates = () => fake.app('my-app').dynos.map(({ name, state, release }) => [name, state, release.version])
  const untilUp = (version: number) =>
    eventually(
      () => fake.app('my-app').dynos.some((dyno) => dyno.state === 'up' && dyno.release.version === version),
      'up',
    )

  it('merges config vars, removes a var with the value null, and creates a release for each change', async () => {
    const { platform } = contextFor(fake)
    expect(await platform.patchConfigVars({ A: '1', B: '2' })).to.deep.equal({ A: '1', B: '2' })
    expect(await platform.patchConfigVars({ A: null, C: '' })).to.deep.equal({ B: '2', C: '' })
    expect((await platform.newestRelease())?.version).to.equal(3)
    await platform.patchConfigVars({ B: '2' })
    expect((await platform.newestRelease())?.version).to.equal(3)
  })

  it('starts a web process for a released image, and ignores a second release of the same image', async () => {
    const { platform } = contextFor(fake)
    expect(await platform.formation()).to.deep.equal([])
    await platform.releaseImage(digestOf('a'))
    await untilUp(2)
    await platform.releaseImage(digestOf('a'))
    expect((await platform.newestRelease())?.version).to.equal(2)
    expect(await platform.formation()).to.have.nested.property('[0].quantity', 1)
  })

  it('rolls back to an earlier release with its image and config vars', async () => {
    const { platform } = contextFor(fake)
    await platform.patchConfigVars({ A: '1' })
    await platform.releaseImage(digestOf('a'))
    const first = await platform.newestRelease()
    await platform.patchConfigVars({ A: '2' })
    await platform.releaseImage(digestOf('b'))
    expect(await platform.rollBack(first?.id ?? '')).to.include({ version: 6, description: 'Rollback to v3' })
    expect(await platform.configVars()).to.deep.equal({ A: '1' })
    expect(fake.app('my-app').releases.at(-1)?.image?.digest).to.equal(digestOf('a'))
  })

  it('lists the processes of an app, stops and starts them, and shows the app’s address', async () => {
    const context = contextFor(fake)
    await context.platform.releaseImage(digestOf('a'))
    await untilUp(2)
    await listProcesses(context)
    expect(context.text()).to.match(/^web\.1 +up +v2 +since 20\S+ +Basic\n$/)
    await stopWeb(context)
    await eventually(() => dynoStates().every(([, state]) => state === 'down'), 'stopped')
    await startWeb(context)
    await untilUp(2)
    await openApp(context)
    expect(context.text()).to.include(fake.app('my-app').webUrl)
  })

  it('reports, after the image was removed, that nothing is released', async () => {
    const context = contextFor(fake)
    await context.platform.releaseImage(digestOf('a'))
    await untilUp(2)
    await context.platform.removeImage()
    await eventually(() => dynoStates().length === 0, 'gone')
    for (const command of [listProcesses, stopWeb, startWeb]) {
      const { message, nextStep } = await refusal(command(context))
      expect(message).to.equal('nothing is released to my-app')
      expect(nextStep).to.equal('./orderflow release order --app my-app')
    }
  })

  it('starts only one process for repeated requests during a restart', async () => {
    const context = contextFor(fake)
    await context.platform.releaseImage(digestOf('a'))
    await Promise.all([1, 2, 3].map(() => context.platform.scaleWeb(1)))
    await untilUp(2)
    const starts = context.platform.patchConfigVars({ A: '1' })
    await Promise.all([starts, ...[1, 2, 3].map(() => context.platform.scaleWeb(1))])
    await untilUp(3)
    expect(dynoStates()).to.deep.equal([['web.1', 'up', 3]])
  })

  const mistakes: [what: string, changes: Parameters<typeof contextFor>[1], status: number, message: RegExp][] = [
    ['a wrong token', { token: 'wrong-token' }, 401, /does not accept ACCESS_TOKEN/],
    ['an app that does not exist', { app: 'no-such-app' }, 404, /does not have the app no-such-app/],
    ['another platform’s name', { platform: 'acme' }, 406, /Accept must be application\/vnd\.acme|vnd\.heroku/],
  ]
  for (const [what, changes, status, message] of mistakes) {
    it(`reports ${what} in one clear message`, async () => {
      const error = await refusal(contextFor(fake, changes).platform.app())
      expect(error).to.include({ code: 'platform', status })
      expect(error.message).to.match(message).and.not.include('wrong-token')
      expect(error.nextStep).to.be.a('string')
    })
  }

  it('reports an invalid request in one clear message', async () => {
    const { platform } = contextFor(fake)
    expect((await refusal(platform.patchConfigVars({ 'NOT-A-NAME': 'x' }))).message).to.include('(422)')
    expect((await refusal(platform.releaseImage('latest'))).message).to.include('docker_image')
    expect(
      (await refusal(contextFor(fake, { app: 'other-app' }).platform.releaseImage(digestOf('a')))).status,
    ).to.equal(422)
  })

  const faults: [status: number, message: RegExp][] = [
    [402, /requires a payment/],
    [403, /may not do this to app my-app/],
    [409, /refuses GET \/config-vars \(409\)/],
    [429, /too many requests/],
    [500, /the platform failed \(500\)/],
  ]
  for (const [status, message] of faults) {
    it(`reports the status ${status} in one clear message with the platform's reason`, async () => {
      fake.answer('GET', /config-vars/, failing(status, { id: 'x', message: 'As it says.', url: 'https://help' }), 9)
      const error = await refusal(contextFor(fake).platform.configVars())
      expect(error).to.include({ code: 'platform', status })
      expect(error.message).to.match(message).and.include('As it says. (https://help)')
    })
  }

  it('succeeds after an error, a rate limit, and a connection that broke after the platform had made the change', async () => {
    const { platform } = contextFor(fake)
    fake.answer('PATCH', /config-vars/, failing(503, ''))
    fake.answer('PATCH', /config-vars/, failing(429, {}, { 'Retry-After': '1' }))
    const broken = fake.answer('PATCH', /config-vars/, (request, response, next) => {
      response.json = () => {
        request.socket.destroy()
        return response
      }
      next()
    })
    expect(await platform.patchConfigVars({ A: '1' })).to.deep.equal({ A: '1' })
    expect(broken()).to.equal(1)
    expect((await platform.newestRelease())?.version).to.equal(2)
  })

  it('rolls back only once if the first answer is lost', async () => {
    const { platform } = contextFor(fake)
    await platform.releaseImage(digestOf('a'))
    const { id = '' } = (await platform.newestRelease()) ?? {}
    const lost = fake.answer('POST', /releases/, (request) => void request.socket.destroy(), 9)
    const error = await refusal(platform.rollBack(id))
    expect(error.message).to.include('the result is unknown')
    expect(lost()).to.equal(1)
  })

  it('reports an answer that does not come from the platform', async () => {
    fake.answer('GET', /my-app/, failing(200, '<html>'), 9)
    expect((await refusal(contextFor(fake).platform.app())).nextStep).to.equal('check PLATFORM_API_URL')
  })
})
