import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { contractFolder } from '@orderflow/envelope'

/*
 * The constant texts in the sources of a service, such as “This key was already used”. Masks keep them, even if a customer is named “New Key”. The
 * sources are read because an error has one text, which may be a constant or quote a value.
 */

const folders = new Set([fileURLToPath(new URL('..', import.meta.url))])
let known: ReadonlyMap<string, readonly string[]> | undefined

/** Adds the sources of a service. They are read when a value is masked for the first time. */
export function addSources(root: URL): void {
  folders.add(fileURLToPath(new URL('src/', root)))
  known = undefined
}

const word = /[\p{L}\p{N}]+/gu

/** Returns a function that states if the range of a text is a part of a constant text. It searches the text at its first call. */
export function constantsIn(text: string): (from: number, to: number) => boolean {
  let ranges: [from: number, to: number][] | undefined
  return (from, to) => {
    ranges ??= rangesIn(text)
    return ranges.some(([begin, end]) => begin <= from && to <= end)
  }
}

function rangesIn(text: string): [from: number, to: number][] {
  known ??= constantsByFirstWord()
  const ranges: [number, number][] = []
  for (const { 0: first, index } of text.matchAll(word))
    for (const constant of known.get(first) ?? [])
      if (text.startsWith(constant, index)) ranges.push([index, index + constant.length])
  return ranges
}

function constantsByFirstWord(): Map<string, string[]> {
  const all = new Set([...folders, ...servicesOfApplication()])
  const constants = new Set([...all].flatMap(sourcesIn).flatMap(constantsOf))
  return Map.groupBy(constants, (constant) => constant.match(word)?.[0] ?? '')
}

/** Returns the sources of all services, because commands and the monitor mask texts of other services again. */
function servicesOfApplication(): string[] {
  const application = fileURLToPath(new URL('../', contractFolder))
  const names = readdirSync(application).filter((name) => name.endsWith('-service'))
  return names.map((name) => `${application}${name}/src/`)
}

/** Returns an empty list if a source cannot be read. Then more words are masked. */
function sourcesIn(folder: string): string[] {
  try {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.[jt]s$/.test(file))
    return files.map((file) => readFileSync(`${folder}/${file}`, 'utf8'))
  } catch {
    return []
  }
}

const literal = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\\n]|\\.)*`/g

/** The smallest number of words in lower case. Names of persons, which may be examples in the code, have fewer. */
const minWords = 3
const lowerCaseWord = /(?<![\p{L}\p{N}])\p{Ll}+(?![\p{L}\p{N}])/gu

/** Returns the texts in a source, from their first word on. A template has a text before and after each of its values. */
function constantsOf(source: string): string[] {
  return (source.match(literal) ?? [])
    .flatMap((quoted) => quoted.slice(1, -1).split(/\$\{.*?\}/))
    .map((text) =>
      text
        .replaceAll(/\\(['"`])/g, '$1')
        .replace(/^[^\p{L}\p{N}]+/u, '')
        .trimEnd(),
    )
    .filter((text) => (text.match(lowerCaseWord)?.length ?? 0) >= minWords)
}
