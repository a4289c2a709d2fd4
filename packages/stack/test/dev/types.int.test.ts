import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { eventually } from '../../src/base/run-tool.ts'
import { watchTypes } from '../../src/dev/types.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

describe('watchTypes', () => {
  let folder: string
  let ending: AbortController
  let ended: Promise<void>
  const printed: string[] = []
  before(() => {
    folder = temporaryFolder()
    for (const name of ['a-service/src', '.stack/data', 'node_modules/a', 'a-service/dist']) {
      mkdirSync(join(folder, name), { recursive: true })
    }
    const files = { include: ['*-service/**/*'], exclude: ['**/dist'] }
    write('tsconfig.json', JSON.stringify({ compilerOptions: { strict: true, types: [] }, ...files }))
    write('a-service/src/a.ts', 'export const a: number = 1\n')
    ending = new AbortController()
    ended = watchTypes((line) => printed.push(line), ending.signal, folder, join(folder, '.stack'))
  })
  after(async () => {
    ending?.abort()
    await ended
    removeFolders()
  })

  const write = (path: string, text: string) => writeFileSync(join(folder, path), text)
  const prints = (text: RegExp) => eventually(() => printed.some((line) => text.test(line)), `a line like ${text}`)

  it('checks the types at the start', async () => {
    await prints(/^Found 0 errors/)
    expect(printed).to.deep.equal(['Found 0 errors.'])
  })

  it('checks the types after a change of a source, but not after other changes', async () => {
    for (const path of [
      '.stack/data/order.db',
      'node_modules/a/index.ts',
      'a-service/dist/a.ts',
      'a-service/notes.md',
    ]) {
      write(path, 'export const b: string = 1\n')
    }
    write('a-service/src/b.ts', 'export const b: string = 1\n')
    await prints(/a-service\/src\/b\.ts.*TS2322/)
    expect(printed.filter((line) => line === 'Found 0 errors.')).to.have.length(1)
    printed.length = 0
    write('a-service/src/b.ts', "export const b: string = ''\n")
    await prints(/^Found 0 errors/)
    expect(printed.join()).not.to.contain('TS2322')
  })
})
