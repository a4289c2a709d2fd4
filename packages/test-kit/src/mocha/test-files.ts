import { globSync } from 'node:fs'
import { basename } from 'node:path'

/** A text that selects no test file. */
export class SelectionError extends Error {
  readonly nextStep: string

  constructor(message: string, nextStep: string) {
    super(message)
    this.name = 'SelectionError'
    this.nextStep = nextStep
  }
}

const otherFolders = /(^|\/)(node_modules|dist|templates?|\..+)$/

/**
 * Returns the test files below a folder. The slow tests of the folders `tools` and `test` come first, so that Mocha's parallel processes end at about the
 * same time.
 */
export const testFiles = (folder: string): string[] =>
  globSync('**/*.test.ts', { cwd: folder, exclude: (path) => otherFolders.test(path) })
    .sort()
    .reverse()

/** Returns the kind of a test file, for example `int`, or undefined for a file without a kind. */
export const kindOf = (file: string): string | undefined => /\.(\w+)\.test\.[cm]?[jt]s$/.exec(file)?.[1]

/** Returns true also for a file without a kind. */
const isUnit = (file: string) => (kindOf(file) ?? 'unit') === 'unit'

/**
 * Returns all unit tests, or the files whose path contains one of the texts.
 * @throws {SelectionError} for a text that selects no file
 */
export function selectTests(all: string[], texts: string[]): { files: string[]; areUnits: boolean } {
  const selected = new Set(texts.flatMap((text) => filesWith(text, all)))
  const files = all.filter((file) => (texts.length > 0 ? selected.has(file) : isUnit(file)))
  return { files, areUnits: files.every(isUnit) }
}

function filesWith(text: string, all: string[]): string[] {
  const part = text.replace(/^\.\//, '')
  const matching = all.filter((file) => file.includes(part) || file.replace('.unit.', '.').includes(part))
  const isNamed = (file: string) => isUnit(file) || part.includes(`.${kindOf(file)}`)
  const files = matching.filter(isNamed)
  if (files.length > 0) return files
  const [first] = matching
  if (first)
    throw new SelectionError(
      `${text} selects no unit test, but files of other kinds:${list(matching)}`,
      `add the kind to run them, for example ${basename(first).replace(/\.test\..*/, '')}; such tests start processes`,
    )
  const similar = similarFiles(part, all)
  throw new SelectionError(
    `no path of a test file contains ${text}`,
    similar.length > 0 ? `check the name; similar files are:${list(similar)}` : 'check the name',
  )
}

const most = 5

const list = (files: string[]) =>
  [...files.slice(0, most), ...(files.length > most ? ['…'] : [])].map((file) => `\n  ${file}`).join('')

function similarFiles(text: string, all: string[]): string[] {
  const wanted = charactersAndPairs(nameOf(text))
  return all
    .map((file) => ({ file, similarity: similarityOf(wanted, charactersAndPairs(nameOf(file))) }))
    .filter(({ similarity }) => similarity > 0.6)
    .sort((a, b) => b.similarity - a.similarity)
    .slice(0, most)
    .map(({ file }) => file)
}

const nameOf = (path: string) =>
  basename(path)
    .replace(/(\.\w+)?\.test\..*|\.ts$/, '')
    .toLowerCase()

/** Returns the characters, and the pairs of neighbours. Two swapped characters change only the pairs. */
const charactersAndPairs = (text: string) =>
  new Set(Array.from(text, (character, index) => [character, text.slice(index, index + 2)]).flat())

/** Returns the Sørensen–Dice coefficient: 0 for sets without a common member, 1 for equal sets. */
const similarityOf = (some: Set<string>, others: Set<string>) =>
  (2 * [...some].filter((each) => others.has(each)).length) / (some.size + others.size)
