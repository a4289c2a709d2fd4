import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Recipe } from '../../src/containers/recipes.ts'
import { recipeHash } from '../../src/containers/recipes.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

const plain = { from: [], args: {}, content: [], needs: [], parts: [] }

describe('the hash of an image’s recipe', () => {
  let recipe: Recipe
  let base: Recipe
  const hash = (changes: Partial<Recipe> = {}) => recipeHash({ ...recipe, ...changes }, () => base)

  beforeEach(() => {
    base = { ...plain, folder: temporaryFolder() }
    recipe = { ...plain, folder: temporaryFolder(), from: ['base'] }
    mkdirSync(join(recipe.folder, 'bin'))
    writeFileSync(join(recipe.folder, 'bin/start'), 'start')
  })
  afterEach(removeFolders)

  it('stays the same while nothing changes', () => {
    expect(hash()).to.match(/^[0-9a-f]{16}$/)
    expect(hash()).to.equal(hash())
  })

  const edits: [string, () => void][] = [
    ['the content of a file', () => writeFileSync(join(recipe.folder, 'bin/start'), 'other')],
    ['a further file', () => writeFileSync(join(recipe.folder, 'Dockerfile'), '')],
    ['the right to execute a file', () => chmodSync(join(recipe.folder, 'bin/start'), 0o755)],
    ['a file of the base image', () => writeFileSync(join(base.folder, 'build'), '')],
  ]
  for (const [what, edit] of edits) {
    it(`depends on ${what}`, () => {
      const before = hash()
      edit()
      expect(hash()).not.to.equal(before)
    })
  }

  const changes: [string, Partial<Recipe>][] = [
    ['an argument', { args: { VERSION: '2' } }],
    ['a version of an added tool', { content: ['2'] }],
    ['the name of the stand-in', { standIn: 'other' }],
  ]
  for (const [what, change] of changes) {
    it(`depends on ${what}`, () => expect(hash(change)).not.to.equal(hash()))
  }
})
