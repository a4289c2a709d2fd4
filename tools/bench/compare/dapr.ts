/** Calls Dapr’s HTTP API with one item per call, as Dapr’s quickstarts do. */
const dapr = `http://127.0.0.1:${process.env.DAPR_HTTP_PORT}/v1.0`

const headers = { 'content-type': 'application/json' }

async function post(path: string, body: unknown): Promise<void> {
  const response = await fetch(`${dapr}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} returned ${response.status} ${text}`)
}

/** Publishes the event without a CloudEvent around it. The key keeps events with the same key in order. */
export function publish(topic: string, key: string, event: unknown): Promise<void> {
  return post(`/publish/pubsub/${topic}?metadata.rawPayload=true&metadata.partitionKey=${key}`, event)
}

export function save(key: string, value: unknown): Promise<void> {
  return post('/state/statestore', [{ key, value }])
}

/** Returns a document, or undefined if Dapr answers 204. */
export async function get<T>(key: string): Promise<T | undefined> {
  const response = await fetch(`${dapr}/state/statestore/${encodeURIComponent(key)}`)
  const text = await response.text()
  if (!response.ok) throw new Error(`get ${key} returned ${response.status} ${text}`)
  return text ? (JSON.parse(text) as T) : undefined
}
