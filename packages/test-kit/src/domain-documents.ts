export type Documents = Record<string, unknown>

/**
 * Returns a service’s documents by key. Leaves out the documents that do not come from the log: the list, the fence, and the claims of
 * Idempotency-Keys.
 */
export function domainDocuments(stored: [key: string, json: string][]): Documents {
  const documents = stored.map(([key, json]) => {
    const { listed, ...document } = JSON.parse(json) as { listed?: string }
    // Dapr puts the application’s name in front of each key.
    return [key.split('||').at(-1) ?? key, document] as const
  })
  const own = documents.filter(([key]) => !key.startsWith('list/') && !key.endsWith('/claim') && key !== 'fence')
  return Object.fromEntries(own.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
