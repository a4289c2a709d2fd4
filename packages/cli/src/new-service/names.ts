import { StackError } from '../lib/error.ts'

/** A service's name in the forms that its code has it in, by the form in the template. */
export type Names = ReadonlyMap<string, string>

const maxLength = 40
const form = /^[a-z][a-z0-9]*(-[a-z0-9]+)*-service$/

/**
 * The forms of a name such as `gift-card-service`.
 * @param code the template's files: a name that they have for something else would make two things of one name
 * @throws {StackError} `usage` saying what a name looks like
 */
export function namesOf(name: string, code: string): Names {
  if (!form.test(name) || name.length > maxLength) {
    throw new StackError('usage', name ? `${name} is no name of a service` : 'which name?', {
      nextStep: `NAME is lower-case words with hyphens that end in -service, at most ${maxLength} characters`,
    })
  }
  const words = name.split('-').slice(0, -1)
  const pascal = words.map(capital).join('')
  if (pascal in globalThis || new RegExp(`\\b${pascal}\\b`).test(code)) {
    throw new StackError(
      'usage',
      `${name} would have a ${pascal} of its own beside the ${pascal} that every service has`,
      {
        nextStep: `take a name that says more, such as ${words[0] === 'order' ? 'my' : 'order'}-${name}`,
      },
    )
  }
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
const lower = (word: string) => word.charAt(0).toLowerCase() + word.slice(1)

function plural(word: string): string {
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`
  return /(s|x|z|ch|sh)$/.test(word) ? `${word}es` : `${word}s`
}
