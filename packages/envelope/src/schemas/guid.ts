const [digit, hyphen] = [1, 2]

/** Maps each UTF-16 code unit to its kind. Kind 0 never occurs in a GUID. */
const kinds = new Uint8Array(2 ** 16)
for (const character of '0123456789abcdefABCDEF') kinds[character.charCodeAt(0)] = digit
kinds['-'.charCodeAt(0)] = hyphen

const places = Array.from('00000000-0000-0000-0000-000000000000', (character) => (character === '-' ? hyphen : digit))

/** Returns true for a GUID by the rule `guid` of common.json, in upper or lower case. It is faster than the rule's pattern. */
export function isGuid(value: unknown): value is string {
  if (typeof value !== 'string' || value.length !== places.length) return false
  for (let index = 0; index < places.length; index += 1)
    if (kinds[value.charCodeAt(index)] !== places[index]) return false
  return true
}

/** A GUID with or without hyphens: alone, after `urn:uuid:`, in braces, or in parentheses. */
const spellings = /^\s*(?:(?:urn:uuid:)?([\da-f-]{32,36})|\{([\da-f-]{32,36})\}|\(([\da-f-]{32,36})\))\s*$/i
const mostLength = 64

/**
 * Returns the GUID in a text, in lower case. Accepts every usual spelling. Use it only to search, because events need the spelling of `isGuid`.
 */
export function parseGuid(value: unknown): string | undefined {
  if (isGuid(value)) return value.toLowerCase()
  if (typeof value !== 'string' || value.length > mostLength) return undefined
  const [, plain, braced, bracketed] = spellings.exec(value) ?? []
  const digits = plain ?? braced ?? bracketed ?? ''
  const guid = digits.replace(/^(\w{8})(\w{4})(\w{4})(\w{4})(\w{12})$/, '$1-$2-$3-$4-$5')
  return isGuid(guid) ? guid.toLowerCase() : undefined
}
