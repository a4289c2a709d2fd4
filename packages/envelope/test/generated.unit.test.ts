import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { generatedFiles } from '../generate-types.ts'

describe('generatedFiles', () => {
  it("returns the committed types and this package's copies of the schemas", async () => {
    for (const [file, text] of await generatedFiles()) {
      expect(readFileSync(file, 'utf8'), `${file.pathname}: run make generate`).to.equal(text)
    }
  })
})
