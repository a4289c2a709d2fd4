import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { generatedFiles } from '../generate-types.ts'

describe('the files that follow from the schemas of the application', () => {
  it('are the committed types, and the copies of this package', async () => {
    for (const [file, text] of await generatedFiles()) {
      expect(readFileSync(file, 'utf8'), `${file.pathname}: run make generate`).to.equal(text)
    }
  })
})
