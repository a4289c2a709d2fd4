/** Returns a function that shares the result of `run` among its callers. After an error, the next call runs it again. */
export function remembered<R>(run: () => Promise<R>): () => Promise<R> {
  let result: Promise<R> | undefined
  return () => {
    result ??= run().catch((error: unknown) => {
      result = undefined
      throw error
    })
    return result
  }
}
