export type Documents = Record<string, unknown>

const internal = new Set(['fence', 'log-positions'])

/**
 * Returns a service’s documents by key. Leaves out the documents that do not come from events: the list, the fence, the positions in the log, and the
 * claims of Idempotency-Keys.
 */
export function domainDocuments(stored: [key: string, json: string][]): Documents {
  const documents = stored.map(([key, json]) => {
    const { listed, ...document } = JSON.parse(json) as { listed?: string }
    // Dapr puts the application’s name in front of each key.
    return [key.split('||').at(-1) ?? key, document] as const
  })
  const own = documents.filter(([key]) => !key.startsWith('list/') && !key.endsWith('/claim') && !internal.has(key))
  return Object.fromEntries(own.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
