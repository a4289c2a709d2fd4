import { CliError } from '../base/error.ts'
import { isIdentifier } from '../base/identifier.ts'

/** Maps each form of the template's name, such as `SparePart`, to the same form of the new name. */
export type Names = ReadonlyMap<string, string>

const maxLength = 40
const form = /^[a-z][a-z0-9]*(-[a-z0-9]+)*-service$/

/** @throws {CliError} `usage` with the rules for names */
export function namesOf(name: string): Names {
  if (!form.test(name) || name.length > maxLength) {
    throw new CliError('usage', name ? `${name} is not a valid name of a service` : 'the name is missing', {
      nextStep: `NAME is lower-case words joined by hyphens, ends in -service and has at most ${maxLength} characters`,
    })
  }
  const words = name.split('-').slice(0, -1)
  const pascal = words.map(capital).join('')
  const many = [...words.slice(0, -1), plural(words.at(-1) ?? '')]
  return new Map([
    ['spare-parts', many.join('-')],
    ['spare-part', words.join('-')],
    ['spareParts', lower(many.map(capital).join(''))],
    ['sparePart', lower(pascal)],
    ['SparePart', pascal],
    ['Spare parts', capital(many.join(' '))],
    ['Spare part', capital(words.join(' '))],
    ['spare parts', many.join(' ')],
    ['spare part', words.join(' ')],
  ])
}

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
export const lower = (word: string): string => word.charAt(0).toLowerCase() + word.slice(1)

function plural(word: string): string {
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`
  return /(s|x|z|ch|sh)$/.test(word) ? `${word}es` : `${word}s`
}

/** Models of the service kit, which every API has. */
const commonModels = ['Problem']

/** Returns true if code cannot define the name, or if it would hide a name of JavaScript. */
export const isReserved = (name: string): boolean =>
  !isIdentifier(name) || name in globalThis || commonModels.includes(name)

/** Returns the identifiers of code, without those in comments and strings. */
export function identifiersIn(code: string): Set<string> {
  const bare = code.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*|'[^'\n]*'|`[^`]*`/g, ' ')
  return new Set(bare.match(/[A-Za-z_$][\w$]*/g))
}

/**
 * Checks that the names of a new service differ from all other names in its files.
 * @param texts the template, by path
 * @param rename replaces the names of the template in a text
 * @throws {CliError} `usage` with another name to choose
 */
export function requireUnused(
  name: string,
  texts: ReadonlyMap<string, string>,
  rename: (text: string) => string,
): void {
  const problem = problemOf(texts, rename)
  if (problem === undefined) return
  throw new CliError('usage', `${name} would define ${problem}`, {
    nextStep: `choose a more specific name, such as ${name.startsWith('order-') ? 'my' : 'order'}-${name}`,
  })
}

function problemOf(texts: ReadonlyMap<string, string>, rename: (text: string) => string): string | undefined {
  const paths = new Set<string>()
  for (const [path, text] of texts) {
    if (paths.has(rename(path))) return `the file ${rename(path)} twice`
    paths.add(rename(path))
    const used = path.endsWith('.ts') ? identifiersIn(text) : []
    for (const own of used) {
      const renamed = rename(own)
      if (renamed === own) continue
      if (isReserved(renamed)) return `${renamed}, which is reserved`
      const others = [...used].filter((other) => other !== own)
      if (others.some((other) => rename(other) === renamed)) return `${renamed}, which ${rename(path)} already has`
    }
  }
  return undefined
}
