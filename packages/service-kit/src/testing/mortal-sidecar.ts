import type { FakeSidecar } from './fake-sidecar.ts'

/** The error of `killed`. */
export class Killed extends Error {}

/** The sidecar of a process that can be killed. */
export interface MortalSidecar {
  sidecar: FakeSidecar
  /** Kills the process. None of its calls returns from then on, or reaches the store or the log. */
  kill(): Promise<never>
  /** Rejects with `Killed` when the process is killed. */
  killed: Promise<never>
}

const calls = ['publish', 'read', 'readOne', 'transact', 'save', 'remove']

/** @param killAt returns whether the process dies before a call, or after it but before its answer */
export function mortalSidecar(
  sidecar: FakeSidecar,
  killAt: (call: string) => 'before' | 'after' | undefined,
): MortalSidecar {
  const never = new Promise<never>(() => {})
  const dying = Promise.withResolvers<never>()
  dying.promise.catch(() => {})
  let isDead = false
  function kill() {
    isDead = true
    dying.reject(new Killed())
    return never
  }
  const mortal = new Proxy(sidecar, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown
      if (typeof value !== 'function') return value
      const call = (value as (...args: unknown[]) => Promise<unknown>).bind(target)
      if (!calls.includes(String(name))) return call
      return async (...args: unknown[]) => {
        if (isDead) return never
        const moment = killAt(String(name))
        if (moment === 'before') return kill()
        const result = await call(...args)
        return isDead || moment === 'after' ? kill() : result
      }
    },
  })
  return { sidecar: mortal, kill, killed: dying.promise }
}
