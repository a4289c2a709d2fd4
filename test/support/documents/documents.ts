/**
 * The documents that a service's domain made, by key, of all that its store holds as JSON text: without the list and the places
 * in it, and without the claims of Idempotency-Keys, which the log does not tell of and stored orders stand for.
 */
export function domainDocuments(stored: [key: string, json: string][]): Record<string, unknown> {
  const documents = stored.map(([key, json]) => {
    const { listed, ...document } = JSON.parse(json) as { listed?: string }
    // Dapr puts the application in front.
    return [key.split('||').at(-1) ?? key, document] as const
  })
  const own = documents.filter(([key]) => !key.startsWith('list/') && !key.endsWith('/claim') && key !== 'fence')
  return Object.fromEntries(own.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
