import { expect } from 'chai'
import { CliError } from '../../src/base/error.ts'
import { rollback } from '../../src/release/rollback.ts'
import { contextFor, digestOf, type FakePlatform, startFakePlatform } from './support/fake-platform.ts'

describe('a rollback', () => {
  let fake: FakePlatform
  beforeEach(async () => {
    fake = await startFakePlatform()
  })
  afterEach(() => fake.close())

  const state = () => {
    const { releases, quantity } = fake.app('my-app')
    const { image, configVars } = releases.at(-1) ?? {}
    return { image: image?.digest, configVars, quantity }
  }

  /** Creates an app with a release, and a second release by `./orderflow release order`. */
  async function releasedTwice() {
    const context = contextFor(fake)
    const { platform, journal } = context
    await platform.patchConfigVars({ A: 'old', ADDON: 'theirs' })
    await platform.releaseImage(digestOf('a'))
    const release = await platform.newestRelease()
    if (!release) throw new Error('no release')
    const before = { release: { id: release.id, version: release.version }, quantity: 1 }
    journal.begin({ ...before, configVars: { A: 'old', B: null } }, new Date())
    await platform.patchConfigVars({ A: 'new', B: 'new' })
    await platform.releaseImage(digestOf('b'))
    return context
  }
  const asBefore = { image: digestOf('a'), configVars: { A: 'old', ADDON: 'theirs' }, quantity: 1 }

  it('restores image and config vars, waits until they are live, and removes the record of the release', async () => {
    const context = await releasedTwice()
    await rollback(context, { dryRun: false })
    expect(state()).to.deep.equal(asBefore)
    expect(context.text()).to.match(/live: v6\n.*rolled back/)
    expect(context.journal.read()).to.equal(undefined)
  })

  it('restores config vars that the platform does not restore', async () => {
    const context = await releasedTwice()
    fake.answer('POST', /releases/, (_request, _response, next) => {
      const release = fake.app('my-app').releases[2]
      if (release) release.configVars = { ...release.configVars, A: 'new', B: 'new' }
      next()
    })
    await rollback(context, { dryRun: false })
    expect(state()).to.deep.equal(asBefore)
  })

  it('changes nothing in a dry run', async () => {
    const context = await releasedTwice()
    await rollback(context, { dryRun: true })
    expect(state().image).to.equal(digestOf('b'))
    expect(context.text()).to.include('2 config vars change')
  })

  it('completes an interrupted rollback when it is called again', async () => {
    const context = await releasedTwice()
    fake.answer('POST', /releases/, (request, response, next) => {
      response.json = () => {
        request.socket.destroy()
        return response
      }
      next()
    })
    const error = await rollback(context, { dryRun: false }).catch((caught: unknown) => caught)
    expect(error).to.be.instanceOf(CliError)
    await rollback(context, { dryRun: false })
    expect(state()).to.deep.equal(asBefore)
  })

  it('removes the image if the release is the first one of the app', async () => {
    const context = contextFor(fake)
    context.journal.begin({ release: { id: 'r', version: 1 }, configVars: { A: null } }, new Date())
    await context.platform.patchConfigVars({ A: '1' })
    await context.platform.releaseImage(digestOf('a'))
    await rollback(context, { dryRun: false })
    expect(state()).to.deep.equal({ image: undefined, configVars: {}, quantity: undefined })
  })

  it('reports a missing record of a release', async () => {
    const error = await rollback(contextFor(fake), { dryRun: false }).catch((caught: unknown) => caught)
    expect(error).to.be.instanceOf(CliError).and.include({ code: 'usage' })
  })
})
