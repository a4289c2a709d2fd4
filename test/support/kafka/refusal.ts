/** Returns the name of a Kafka error, the message of any other error, or undefined after success. */
export async function refusalOf(attempt: Promise<unknown>): Promise<string | undefined> {
  const error = await attempt.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  return error === undefined ? undefined : (namesIn(error).at(-1) ?? String(error))
}

/** The client wraps errors in lists and causes. */
function namesIn(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const { apiId, errors = [], cause } = error as { apiId?: string; errors?: unknown[]; cause?: unknown }
  return [...(apiId ? [apiId] : []), ...errors.flatMap(namesIn), ...namesIn(cause)]
}
