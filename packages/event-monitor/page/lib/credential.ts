/**
 * What somebody pasted as a key or token, as it may stand in a header (RFC 6750, section 2.1).
 * @returns null when it cannot be one
 */
export function credentialIn(text: string): string | null {
  const pasted = text.trim().replace(/^Bearer(\s+|$)/i, '')
  return /^[\w.~+/-]+=*$/.test(pasted) ? pasted : null
}
