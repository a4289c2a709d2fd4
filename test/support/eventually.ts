import { setTimeout as delay } from 'node:timers/promises'

/** Waits until `probe` answers something other than undefined or false, for at most `timeoutMs`, and returns it. */
export async function eventually<T>(
  probe: () => T | undefined | Promise<T | undefined>,
  what: string,
  timeoutMs = 30_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const found = await probe()
    if (found !== undefined && found !== false) return found
    if (Date.now() > deadline) throw new Error(`${what}: not within ${timeoutMs} ms`)
    await delay(20)
  }
}
