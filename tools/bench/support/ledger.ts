/** What became of what was published, told apart by key. */
export interface Ledger {
  expected: number
  /** Expected and not there. */
  lost: number
  /** Not expected and there. */
  unknown: number
  /** Records beyond the first of their key: harmless to a reader that knows keys, and counted all the same. */
  repeated: number
}

/** Compares keys that must be there with those of the records that are. */
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

/** @throws {Error} when something was lost, or made from nothing: figures of such a run are worth nothing */
export function requireComplete(what: string, ledger: Ledger): Ledger {
  if (ledger.lost === 0 && ledger.unknown === 0) return ledger
  throw new Error(`${what}: ${JSON.stringify(ledger)}`)
}
