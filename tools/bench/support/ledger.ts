/** The numbers of expected, lost, unknown and repeated keys of published records. */
export interface Ledger {
  expected: number
  lost: number
  unknown: number
  /** The number of records with the key of an earlier record. Such duplicates are harmless. */
  repeated: number
}

/** Compares the expected keys with the keys of existing records. */
export function ledgerOf(expected: Iterable<string>, found: Iterable<string>): Ledger {
  const wanted = new Set(expected)
  const seen = new Set<string>()
  let records = 0
  for (const key of found) {
    seen.add(key)
    records += 1
  }
  const lost = [...wanted].filter((key) => !seen.has(key)).length
  const unknown = [...seen].filter((key) => !wanted.has(key)).length
  return { expected: wanted.size, lost, unknown, repeated: records - seen.size }
}

/** @throws {Error} if a key is missing or unexpected */
export function requireComplete(what: string, ledger: Ledger): Ledger {
  if (ledger.lost === 0 && ledger.unknown === 0) return ledger
  throw new Error(`${what}: ${JSON.stringify(ledger)}`)
}
