import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { CliError } from '../../src/base/error.ts'
import { openJournal } from '../../src/release/record.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const at = new Date('2026-11-21T12:00:00Z')
const before = (version: number, configVars: Record<string, string | null> = {}) => ({
  release: { id: `r${version}`, version },
  quantity: 1,
  configVars,
})

describe('the journal of a release', () => {
  let folder: string
  const open = () => openJournal('my-app', { RELEASE_FOLDER: folder })
  beforeEach(() => {
    folder = temporaryFolder()
  })

  it('creates a file that only its owner can read', () => {
    open().begin(before(1, { A: 'secret' }), at)
    const [name = ''] = readdirSync(join(folder, 'apps'))
    expect(statSync(join(folder, 'apps', name)).mode & 0o777).to.equal(0o600)
    expect(statSync(join(folder, 'apps')).mode & 0o777).to.equal(0o700)
    expect(readdirSync(join(folder, 'apps'))).to.have.length(1)
  })

  it('keeps the state from before an interrupted release when the next release continues the interrupted one', () => {
    open().begin(before(1, { A: 'old' }), at)
    open().begin(before(2, { A: 'new', B: 'untouched' }), at)
    expect(open().read()?.before).to.deep.equal(before(1, { A: 'old', B: 'untouched' }))
  })

  it('records a new state after a finished release', () => {
    open().begin(before(1), at)
    open().finish(3, at)
    open().begin(before(3), at)
    expect(open().read()?.before.release?.version).to.equal(3)
  })

  it('keeps the record of the previous release after a release that changed nothing', () => {
    open().begin(before(1), at)
    open().finish(3, at)
    const last = open().read()
    open().begin(before(3), at)
    open().finish(3, at)
    expect(open().read()).to.deep.equal(last)
  })

  it('names a damaged file without showing its content', () => {
    open().begin(before(1), at)
    writeFileSync(join(folder, 'apps/my-app.json'), '{"before": secret')
    expect(() => open().read())
      .to.throw(CliError, /apps\/my-app\.json is not a JSON object/)
      .that.satisfies((error: Error) => !error.message.includes('secret'))
  })
})
