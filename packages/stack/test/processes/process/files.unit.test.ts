import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { repository } from '../../../src/application/paths.ts'
import { services } from '../../../src/application/services.ts'
import { hashOfFiles, serviceFiles } from '../../../src/processes/process/files.ts'
import { removeFolders, temporaryFolder } from '../../support.ts'

describe('hashOfFiles', () => {
  afterEach(removeFolders)

  it('changes with the content, the name and the number of files, but not with their times', () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'src/deep'), { recursive: true })
    const write = (path: string, text: string) => writeFileSync(join(folder, path), text)
    const hash = () => hashOfFiles(['src', 'settings.json', 'missing'], folder)
    const seen = new Set<string>()
    const isNew = () => {
      const now = hash()
      const before = seen.size
      return seen.add(now).size > before
    }
    expect(isNew()).to.equal(true)
    write('src/deep/a.ts', 'a')
    expect(isNew()).to.equal(true)
    write('src/deep/a.ts', 'b')
    expect(isNew()).to.equal(true)
    write('settings.json', '{}')
    expect(isNew()).to.equal(true)
    utimesSync(join(folder, 'settings.json'), 1, 1)
    write('other.ts', 'a')
    expect(isNew()).to.equal(false)
    rmSync(join(folder, 'src/deep/a.ts'))
    write('src/deep/b.ts', 'b')
    expect(isNew()).to.equal(true)
  })

  it('includes files that each service reads', () => {
    for (const service of services) {
      const own = [`${service.folder}/src`, `${service.folder}/appsettings.json`, 'envelope-schema/schemas']
      expect(serviceFiles(service)).to.include.members(own)
    }
    const missing = [...new Set(services.flatMap(serviceFiles))].filter((path) => !existsSync(join(repository, path)))
    expect(missing.filter((path) => !path.endsWith('/dist'))).to.deep.equal([])
  })
})
