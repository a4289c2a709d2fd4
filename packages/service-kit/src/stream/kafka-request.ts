import type { Admin, API, Broker, Connection } from '@platformatic/kafka'

/**
 * Sends a request of Kafka's protocol for which @platformatic/kafka's client has no method, in the newest version that it and the broker
 * know.
 * @param name as in Kafka's list of its requests, such as `DescribeUserScramCredentials`
 * @param fields what the client's `createRequest` of that request takes
 * @throws what the client throws; an answer with an error in it is one, and has that answer as `response`
 */
export async function requestOf<Response>(admin: Admin, name: string, ...fields: unknown[]): Promise<Response> {
  const kafka = await import('@platformatic/kafka')
  const api = await promised<API<unknown[], Response>>((done) => admin[kafka.kGetApi](name, done))
  const connection = await promised<Connection>((done) => admin[kafka.kGetBootstrapConnection](done))
  return await api.async(connection, ...fields)
}

/**
 * Sends a request that only one broker can answer, such as the leader of a partition.
 * @param fieldsIn returns what the client's `createRequest` takes in a version of the request
 * @throws as `requestOf`
 */
export async function requestAt<Response>(
  admin: Admin,
  broker: Broker,
  name: string,
  fieldsIn: (version: number) => unknown[],
): Promise<Response> {
  const kafka = await import('@platformatic/kafka')
  const api = await promised<API<unknown[], Response>>((done) => admin[kafka.kGetApi](name, done))
  const connection = await promised<Connection>((done) => admin[kafka.kGetConnection](broker, done))
  // biome-ignore lint/plugin/no-spread-arguments: a request of the protocol has a dozen fields
  return await api.async(connection, ...fieldsIn(api.version))
}

/**
 * Returns the answer of a request that has an error for some of its topics or partitions. To the client such an answer is an error.
 * @throws the error, if it is not an answer
 */
export function answerOf<Response>(error: Error & { response?: Response }): Response {
  if (error.response) return error.response
  throw error
}

/** The client's own way to take callbacks: the error first, then what it answers. */
function promised<Answer>(call: (done: (error: Error | null, answer?: Answer) => void) => void): Promise<Answer> {
  return new Promise((resolve, reject) => {
    call((error, answer) => (error ? reject(error) : resolve(answer as Answer)))
  })
}

/** Returns the protocol's own names of what is wrong. The client wraps errors in lists of errors and causes. */
export function protocolErrors(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const { apiId, errors = [], cause } = error as { apiId?: string; errors?: unknown[]; cause?: unknown }
  return [...(apiId ? [apiId] : []), ...errors.flatMap(protocolErrors), ...protocolErrors(cause)]
}
