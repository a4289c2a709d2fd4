import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Recipe } from './recipes.ts'

/**
 * Changes when anything changes that an image is built from, the images that it starts from included.
 * @param recipeOf finds the recipe of an image it starts from
 * @returns 16 hex digits
 */
export function recipeHash(recipe: Recipe, recipeOf: (image: string) => Recipe): string {
  const hash = createHash('sha256')
  const add = (...parts: string[]) => hash.update(JSON.stringify(parts))
  for (const file of filesOf(recipe.folder)) {
    const isExecutable = (statSync(file).mode & 0o100) !== 0
    add('file', relative(recipe.folder, file), String(isExecutable), readFileSync(file, 'utf8'))
  }
  for (const [name, value] of Object.entries(recipe.args)) add('argument', name, value)
  for (const image of recipe.from) add('from', image, recipeHash(recipeOf(image), recipeOf))
  hash.update(JSON.stringify(['content', ...recipe.content]))
  add('stand-in', recipe.standIn ?? '')
  return hash.digest('hex').slice(0, 16)
}

function filesOf(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}
