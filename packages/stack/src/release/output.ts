import { attempt } from '../base/error.ts'

export type Output = ReturnType<typeof createOutput>

interface Sink {
  write: (text: string) => unknown
}

export function createOutput(out: Sink = process.stdout, errors: Sink = process.stderr) {
  const startedAt = performance.now()
  let forms: string[] = []
  const scrub = (text: string) => forms.reduce((rest, form) => rest.replaceAll(form, '***'), text)
  const print = (line = '') => void out.write(`${scrub(line)}\n`)
  return {
    /** Masks secrets as `***`, also in escaped forms. */
    hide: (secrets: readonly string[]) => {
      // Replaces longer forms first, for example a connection string before its password.
      forms = [...new Set([...forms, ...secrets.flatMap(formsOf)])].sort((a, b) => b.length - a.length)
    },
    scrub,
    print,
    /** Prints a line with the seconds since the start. */
    progress: (line: string) => print(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)}s  ${line}`),
    complain: (line: string) => void errors.write(`${scrub(line)}\n`),
  }
}

/** The length of the shortest secret that is masked. Shorter secrets could be part of ordinary words. */
const shortest = 5

/**
 * Returns a secret's forms in messages: plain, escaped for a URL or JSON, and in a Basic credential. Includes the password of a connection
 * string.
 */
function formsOf(secret: string): string[] {
  const passwords = /^[\w+.-]+:\/\/[^/?#@:]*:([^@/]+)@/.exec(secret)?.slice(1) ?? []
  const plain = [secret, ...passwords, ...passwords.flatMap((text) => attempt(() => decodeURIComponent(text)) ?? [])]
  const forms = plain.flatMap((text) => [
    text,
    encodeURIComponent(text),
    JSON.stringify(text).slice(1, -1),
    ...['_', ''].map((user) => Buffer.from(`${user}:${text}`).toString('base64')),
  ])
  return [...new Set(forms)].filter((form) => form.length >= shortest)
}
