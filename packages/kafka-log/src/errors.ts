/** The log, or a part of it, cannot be read. The message ends with the root cause. */
export class LogError extends Error {
  readonly code = 'log'
  readonly canRetry: boolean
  /**
   * @param brokers the addresses of the brokers that were asked
   * @param canRetry false if the same request would fail again
   */
  constructor(
    what: string,
    { brokers, cause, canRetry = true }: { brokers?: readonly string[]; cause?: unknown; canRetry?: boolean } = {},
  ) {
    super(brokers ? `${what} at ${brokers.join(',')}: ${rootMessage(cause)}` : what, { cause })
    this.name = 'LogError'
    this.canRetry = canRetry
  }
}

/** Returns the message of the root cause, because the client wraps errors in other errors. */
export function rootMessage(error: unknown): string {
  if (error instanceof LogError) return error.message
  if (error instanceof AggregateError && error.errors.length > 0) return rootMessage(error.errors[0])
  if (error instanceof Error) return error.cause instanceof Error ? rootMessage(error.cause) : error.message
  return String(error)
}

/** The fields of the Kafka client's errors. The client nests errors in lists and causes. */
interface ClientError extends Error {
  /** The name of the error in Kafka's protocol. */
  apiId?: string
  /** False if the same request would fail again. */
  canRetry?: boolean
  errors?: unknown[]
}

function nested(error: unknown): ClientError[] {
  if (!(error instanceof Error)) return []
  const { errors = [], cause } = error as ClientError
  return [error, ...errors.flatMap(nested), ...nested(cause)]
}

/** Returns the names of all protocol errors in an error. */
export const protocolErrors = (error: unknown): string[] =>
  nested(error).flatMap(({ apiId }) => (apiId === undefined ? [] : [apiId]))

/** Returns true if the same request would fail again, for example because Kafka denies it. */
export const isPermanent = (error: unknown): boolean => nested(error).some(({ canRetry }) => canRetry === false)
