/** The output of a command. It never contains a value that was declared secret. */
export interface Output {
  /** From now on these values are replaced by `***`, however they are escaped. */
  hide: (secrets: readonly string[]) => void
  scrub: (text: string) => string
  print: (line?: string) => void
  /** A line with the seconds since the command began. */
  progress: (line: string) => void
  /** To standard error. */
  complain: (line: string) => void
}

interface Sink {
  write: (text: string) => unknown
}

export function createOutput(out: Sink = process.stdout, errors: Sink = process.stderr): Output {
  const startedAt = performance.now()
  let forms: string[] = []
  const scrub = (text: string) => forms.reduce((rest, form) => rest.replaceAll(form, '***'), text)
  const print = (line = '') => void out.write(`${scrub(line)}\n`)
  return {
    hide: (secrets) => {
      // The longest first: a connection string goes as a whole before its password does.
      forms = [...new Set([...forms, ...secrets.flatMap(formsOf)])].sort((a, b) => b.length - a.length)
    },
    scrub,
    print,
    progress: (line) => print(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)}s  ${line}`),
    complain: (line) => void errors.write(`${scrub(line)}\n`),
  }
}

/** Shorter ones would turn ordinary words into asterisks. */
const shortest = 5

/**
 * Every spelling of a secret that could turn up in a message: itself, escaped for a URL or for JSON, inside a Basic
 * credential, and of a connection string its password alone.
 */
function formsOf(secret: string): string[] {
  const passwords = /^[\w+.-]+:\/\/[^/?#@:]*:([^@/]+)@/.exec(secret)?.slice(1) ?? []
  const plain = [secret, ...passwords, ...passwords.map(decoded)]
  const forms = plain.flatMap((text) => [
    text,
    encodeURIComponent(text),
    JSON.stringify(text).slice(1, -1),
    ...['_', ''].map((user) => Buffer.from(`${user}:${text}`).toString('base64')),
  ])
  return [...new Set(forms)].filter((form) => form.length >= shortest)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
