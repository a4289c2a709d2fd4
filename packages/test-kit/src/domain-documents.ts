export type Documents = Record<string, unknown>

const internal = new Set(['fence', 'log-positions'])

/**
 * Returns a service’s documents by key. Leaves out the data of processes and requests: lists, the fence, registers, positions in the log,
 * claims of Idempotency-Keys, hashes of requests, unannounced events, visits.
 */
export function domainDocuments(stored: [key: string, json: string][]): Documents {
  const documents = stored.flatMap(([key, json]) => {
    const { listed, unannounced, requestHash, visits, ...document } = JSON.parse(json) as Record<string, unknown>
    // A failed save may leave a document that was only visited.
    if (visits !== undefined && Object.keys(document).length === 0) return []
    // Dapr puts the application’s name in front of each key.
    return [[key.split('||').at(-1) ?? key, document] as const]
  })
  const own = documents.filter(([key]) => !/^(list|announcing)\/|\/claim$/.test(key) && !internal.has(key))
  return Object.fromEntries(own.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
