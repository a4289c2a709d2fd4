import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mountDisk, unmountBelow } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import { openJournal } from '../../src/release/record.ts'

describe('the record of a release on a full disk', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'full-disk-'))
  })
  afterEach(() => {
    unmountBelow(folder)
    rmSync(folder, { recursive: true })
  })

  it('keeps its old content if only a part of the new content fits', async () => {
    const disk = await mountDisk(folder, '64k')
    const journal = openJournal('shop', { RELEASE_FOLDER: folder })
    const at = new Date(0)
    journal.begin({ configVars: { A: 'old' } }, at)
    journal.finish(1, at)
    const before = journal.read()
    expect(() => journal.begin({ configVars: { A: 'new'.repeat(30_000) } }, at)).to.throw(
      'no space left on the disk of',
    )
    expect(journal.read()).to.deep.equal(before)
    expect(readdirSync(join(folder, 'apps'))).to.deep.equal(['shop.json'])
    await disk.relieve()
    journal.begin({ configVars: { A: 'new' } }, at)
    expect(journal.read()?.before.configVars).to.deep.equal({ A: 'new' })
  })
})
