/** Shorter ones would turn ordinary words into asterisks. */
const shortest = 5

/**
 * Every spelling of a secret that could turn up in a message: itself, escaped for a URL or for JSON, inside a Basic
 * credential, and of a connection string its password alone.
 */
export function formsOf(secret: string): string[] {
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
