import type { EventDetail, Place } from '../api/events.ts'
import type { Monitor } from '../monitor.ts'

/** All about one event; undefined when the index does not have it. `at` tells it from others at its place (`Reads.event`). */
export async function detailOf(
  { index, standingOf, tracePage, isSigned }: Monitor,
  place: Place,
  at?: number,
): Promise<EventDetail | undefined> {
  const found = await index.ask('event', place, at)
  if (!found) return undefined
  const { row, body, ...around } = found
  const { document = null, note = null, masked = [], key = null, headers = [], faults = [] } = body
  const isEnvelope = row.appId !== null
  return {
    row,
    document,
    documentNote: note,
    masked,
    key,
    headers,
    faults,
    trust: {
      publisher: isEnvelope ? standingOf(row.appId) : null,
      signature: signatureOf(),
      refusal: row.validity === 'untrusted' ? (faults[0]?.message ?? null) : null,
    },
    cause: around.cause,
    effects: around.effects,
    deadLetters: around.deadLetters,
    entries: around.entries,
    previous: around.previous,
    following: around.following,
    traceUrl: tracePage ? `${tracePage.replace(/\/$/, '')}/trace/${row.traceId.replaceAll('-', '')}` : null,
    complete: index.truth(),
  }

  function signatureOf(): EventDetail['trust']['signature'] {
    if (!isSigned) return 'not-asked'
    if (!headers.some(({ name }) => name === 'signature')) return 'none'
    return row.validity === 'untrusted' ? 'wrong' : standingOf(row.appId) === 'service' ? 'ours' : 'none'
  }
}
