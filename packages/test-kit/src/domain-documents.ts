import { contentOf } from '@orderflow/service-kit/operations'

export type Documents = Record<string, unknown>

const internal = new Set(['fence', 'log-positions', 'store-id'])

/** Returns a service’s documents by key, as far as they follow from the log. Leaves out those of processes, requests and schedules. */
export function domainDocuments(stored: [key: string, json: string][]): Documents {
  const documents = stored.flatMap(([key, json]) => {
    const document = JSON.parse(json)
    const content = contentOf(document)
    // A failed save may leave a document that was only visited.
    if (document.visits !== undefined && Object.keys(content as object).length === 0) return []
    // Dapr puts the application’s name in front of each key.
    return [[key.split('||').at(-1) ?? key, content] as const]
  })
  const own = documents.filter(
    ([key]) => !/^(list|announcing|due|every-[^/]*)\/|\/claim$/.test(key) && !internal.has(key),
  )
  return Object.fromEntries(own.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
