import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CliError } from '@orderflow/stack/base'
import { expect } from 'chai'
import { requireFolder } from '../../src/commands/backup-folder.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

describe('./orderflow backup', () => {
  afterEach(removeFolders)

  it('explains that a backup needs a folder, for a file and for a link without a target', () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'file'), '')
    symlinkSync('missing', join(folder, 'link'))
    for (const name of ['file', 'link'])
      expect(() => requireFolder(join(folder, name), '')).to.throw(CliError, /, but a backup is a folder$/)
  })
})
