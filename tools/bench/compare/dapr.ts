/** Calls of Dapr's HTTP API, one thing at a time, the way its quickstarts make them. */
const dapr = `http://127.0.0.1:${process.env.DAPR_HTTP_PORT}/v1.0`

const headers = { 'content-type': 'application/json' }

async function post(path: string, body: unknown): Promise<void> {
  const response = await fetch(`${dapr}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  // Reading the body gives the connection back.
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} answers ${response.status} ${text}`)
}

/** Raw, so that the Kafka value is the event itself; keyed, so that the events of an order stay in order. */
export function publish(topic: string, key: string, event: unknown): Promise<void> {
  return post(`/publish/pubsub/${topic}?metadata.rawPayload=true&metadata.partitionKey=${key}`, event)
}

export function save(key: string, value: unknown): Promise<void> {
  return post('/state/statestore', [{ key, value }])
}

/** Undefined when there is none: Dapr answers 204. */
export async function get<T>(key: string): Promise<T | undefined> {
  const response = await fetch(`${dapr}/state/statestore/${encodeURIComponent(key)}`)
  const text = await response.text()
  if (!response.ok) throw new Error(`get ${key} answers ${response.status} ${text}`)
  return text ? (JSON.parse(text) as T) : undefined
}

/** One upsert in a transaction of a store with an outbox: the sidecar publishes its value, as Go prints it unless it is told JSON. */
export function transact(store: string, key: string, value: unknown): Promise<void> {
  const metadata = { contentType: 'application/json' }
  return post(`/state/${store}/transaction`, {
    operations: [{ operation: 'upsert', request: { key, value, metadata } }],
  })
}
