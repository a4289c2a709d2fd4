import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { expect } from 'chai'
import { exampleFiles } from '../app.ts'

describe('the files of the example in a new application', () => {
  it('contain all files that they import by relative paths', () => {
    const files = new Set(globSync(exampleFiles, { cwd: repository }))
    const missing = [...files].flatMap((file) => {
      const imports = readFileSync(join(repository, file), 'utf8').matchAll(/ from '(\.[^']+)'/g)
      const paths = [...imports].map(([, path = '']) => join(dirname(file), path))
      return paths.filter((path) => !files.has(path)).map((path) => `${file} imports ${path}`)
    })
    expect(missing).to.deep.equal([])
  })
})
