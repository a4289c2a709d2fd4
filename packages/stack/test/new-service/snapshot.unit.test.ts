import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { snapshotOf } from '../../src/new-service/new-service.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

describe('snapshotOf', () => {
  afterEach(removeFolders)

  it('restores changed and removed files, and removes new ones', () => {
    const root = temporaryFolder()
    const file = (path: string) => join(root, path)
    mkdirSync(file('chart/old'), { recursive: true })
    for (const path of ['services.json', 'chart/old/a.yaml', 'chart/b.yaml', 'other.txt'])
      writeFileSync(file(path), path)
    const restore = snapshotOf(root, ['services.json', 'chart', 'chart/new.yaml', 'missing.json'])
    rmSync(file('chart/old'), { recursive: true })
    for (const path of ['services.json', 'chart/new.yaml', 'missing.json', 'other.txt'])
      writeFileSync(file(path), 'new')
    restore()
    for (const path of ['services.json', 'chart/old/a.yaml', 'chart/b.yaml'])
      expect(readFileSync(file(path), 'utf8')).to.equal(path)
    expect(['chart/new.yaml', 'missing.json'].filter((path) => existsSync(file(path)))).to.deep.equal([])
    expect(readFileSync(file('other.txt'), 'utf8')).to.equal('new')
  })
})
