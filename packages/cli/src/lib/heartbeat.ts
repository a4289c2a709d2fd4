const everyMs = 10_000

/** Runs long work and tells every ten seconds that it goes on: `NAME: 20 s, DETAIL`. */
export async function withHeartbeat<Result>(
  name: string,
  { onProgress, detail }: { onProgress: (line: string) => void; detail: () => string },
  work: () => Promise<Result>,
): Promise<Result> {
  const startedAt = Date.now()
  const timer = setInterval(() => {
    onProgress(`${name}: ${Math.round((Date.now() - startedAt) / 1000)} s, ${detail()}`)
  }, everyMs)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}
