/**
 * Returns the domain’s documents of a service, by key, from all its stored documents as JSON. Leaves out the list and the slots in it. Also
 * leaves out the claims of Idempotency-Keys, because the log does not contain them.
 */
export function domainDocuments(stored: [key: string, json: string][]): Record<string, unknown> {
  const documents = stored.map(([key, json]) => {
    const { listed, ...document } = JSON.parse(json) as { listed?: string }
    // Dapr adds the application’s name in front.
    return [key.split('||').at(-1) ?? key, document] as const
  })
  const own = documents.filter(([key]) => !key.startsWith('list/') && !key.endsWith('/claim') && key !== 'fence')
  return Object.fromEntries(own.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
