import type { EventRow, RecordPosition } from '../../src/api/index.ts'

export type Route =
  | { view: 'live' }
  | { view: 'conversation'; correlationId: string }
  | { view: 'event'; position: RecordPosition }
  | { view: 'id'; id: string }
  | { view: 'dead' }
  | { view: 'dead-entry'; entry: string }
  | { view: 'missing' | 'deadlines' | 'publishers' | 'schemas' | 'health' | 'audit' }
  | { view: 'not-found'; path: string }

const plain = ['missing', 'deadlines', 'publishers', 'schemas', 'health', 'audit'] as const

export function routeOf(path: string): Route {
  const parts = path.split('/').slice(1).map(decoded)
  const [head = '', first = '', second = '', third = ''] = parts
  const notFound: Route = { view: 'not-found', path }
  if (path === '/' || path === '/index.html') return { view: 'live' }
  if (parts.length === 1 && head === 'dead') return { view: 'dead' }
  const named = plain.find((name) => name === head)
  if (parts.length === 1 && named) return { view: named }
  if (parts.length === 2 && first) {
    if (head === 'c') return { view: 'conversation', correlationId: first }
    if (head === 'id') return { view: 'id', id: first }
    if (head === 'dead') return { view: 'dead-entry', entry: first }
  }
  const isPosition = /^\d{1,9}$/.test(second) && /^\d{1,19}$/.test(third) && first !== ''
  if (parts.length === 4 && head === 'e' && isPosition) {
    return { view: 'event', position: { topic: first, partition: Number(second), offset: third } }
  }
  return notFound
}

export const hrefs = {
  conversation: (correlationId: string) => `/c/${encodeURIComponent(correlationId)}`,
  event: (position: RecordPosition) =>
    `/e/${encodeURIComponent(position.topic)}/${position.partition}/${position.offset}`,
  id: (id: string) => `/id/${encodeURIComponent(id)}`,
  entry: (id: string) => `/dead/${encodeURIComponent(id)}`,
  group: (id: string) => `/dead?group=${encodeURIComponent(id)}`,
}

/** Returns true for the note of a replay. Its ids derive from its position, so they belong to the note alone. */
export const isNote = ({ validity }: Pick<EventRow, 'validity'>): boolean => validity === 'replay-note'

export const positionText = ({ topic, partition, offset }: RecordPosition) => `${topic}/${partition}/${offset}`

export function positionIn(text: string): RecordPosition | undefined {
  const [, topic = '', partition = '', offset = ''] =
    /^\/?(?:e\/)?([\w.-]+)\/(\d{1,9})\/(\d{1,19})$/.exec(text.trim()) ?? []
  return topic ? { topic, partition: Number(partition), offset } : undefined
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
