import { AsyncLocalStorage } from 'node:async_hooks'
import { join } from 'node:path'
import { withLock } from '../base/lock.ts'

/** The lock that the current work holds. Work that continues after the release does not hold it any more. */
const current = new AsyncLocalStorage<{ folder: string; isHeld: boolean }>()

/**
 * Runs `work` while no other command starts or stops the stack, or writes a whole log to its Kafka. A command that holds the lock may call functions
 * that take it, too.
 */
export async function withStackLock<Result>(
  folder: string,
  onProgress: (line: string) => void,
  work: () => Promise<Result>,
): Promise<Result> {
  const outer = current.getStore()
  if (outer?.isHeld && outer.folder === folder) return await work()
  const onWait = (pid: number) => onProgress(`waiting for process ${pid}, which starts, stops or restores this stack`)
  return await withLock(join(folder, 'run/lock'), { timeoutMs: 180_000, onWait }, async () => {
    const lock = { folder, isHeld: true }
    try {
      return await current.run(lock, work)
    } finally {
      lock.isHeld = false
    }
  })
}
