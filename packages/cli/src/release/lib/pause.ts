import { setTimeout as sleep } from 'node:timers/promises'
import { ReleaseError } from './error.ts'

/** @throws {ReleaseError} `interrupted` when the signal aborts */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {
    throw new ReleaseError('interrupted', 'interrupted')
  })
}
