import { setTimeout as delay } from 'node:timers/promises'
import { type createDocuments, SidecarError } from '@orderflow/service-kit'
import type { FakeLog, FakeSidecar } from '@orderflow/service-kit/testing'

/** A failure of one call. */
export interface Failure {
  /** Before a call takes effect, after half of its effects, or after it has taken effect. A late write takes effect in the second `writeLate`. */
  kind: 'read' | 'write' | 'publish' | 'write-half' | 'write-late' | 'write-after' | 'publish-after' | 'publish-half'
  /** The number of calls that do not fail before the call that fails. Only one call fails. */
  skipped: number
  /** True if the call kills its process. Otherwise, the process gets an error. */
  isFatal: boolean
}

type Sidecar = Parameters<typeof createDocuments>[0]
type OutgoingEvent = Parameters<Sidecar['publish']>[1][number]

const never = new Promise<never>(() => {})

/** Lets one call of one process fail. All processes of a world share the failure. */
export class Failures {
  #failure: Failure | undefined
  #late: (() => Promise<void>)[] = []
  #due: (() => Promise<void>)[] = []
  #writes = 0

  async during(failure: Failure | undefined, work: () => Promise<unknown>): Promise<void> {
    this.#failure = failure && { ...failure }
    await work()
    this.#failure = undefined
  }

  /** Executes the late writes that the previous call has found. */
  async writeLate(): Promise<void> {
    const due = this.#due
    ;[this.#due, this.#late] = [this.#late, []]
    for (const write of due) await write()
  }

  /**
   * Creates the sidecar of a process. It publishes to the log. A record may go to any of three partitions, depending on its key.
   * @param onKilled is called if a failure kills the process
   */
  sidecar(store: FakeSidecar, log: FakeLog, onKilled: () => void): Sidecar {
    let isDead = false
    /** Runs a call of a living process. A call of a dead process waits for ever. */
    async function alive<T>(call: () => Promise<T>): Promise<T> {
      if (isDead) return never
      try {
        return await call()
      } finally {
        if (isDead) await never
      }
    }
    async function fail({ isFatal }: Failure): Promise<void> {
      if (!isFatal) throw new SidecarError('call', new Error('connection lost'))
      isDead = true
      onKilled()
      await never
    }
    const failAt = async (kind: Failure['kind']) => {
      const failure = this.#met(kind)
      if (failure) await fail(failure)
    }
    const write = async (execute: () => Promise<void>, executeHalf = execute): Promise<void> => {
      await failAt('write')
      const late = this.#met('write-late')
      // The guards of the write may no longer hold then.
      if (late) this.#late.push(() => execute().catch(() => {}))
      if (late) await fail(late)
      this.#writes += 1
      // Every third write is slow, so that the stored data may change before the write takes effect.
      if (this.#writes % 3 === 0) await delay(1)
      const half = this.#met('write-half')
      await (half ? executeHalf() : execute())
      if (half) await fail(half)
      await failAt('write-after')
    }
    const publish = async (topic: string, events: OutgoingEvent[]): Promise<void> => {
      await failAt('publish')
      const half = this.#met('publish-half')
      const out = half ? events.slice(0, events.length / 2) : events
      await store.publish(topic, out)
      for (const { key, value, headers } of out) {
        const partition = topic.endsWith('.dead') ? 0 : (key?.charCodeAt(0) ?? 0) % 3
        log.append({ topic, partition, key, value, headers })
      }
      if (half) await fail(half)
      await failAt('publish-after')
    }
    const read = async <T>(call: () => Promise<T>): Promise<T> => {
      await failAt('read')
      return call()
    }
    return {
      writeIntervalMs: store.writeIntervalMs,
      publish: (topic, events) => alive(() => publish(topic, events)),
      read: (keys) => alive(() => read(() => store.read(keys))),
      readOne: (key) => alive(() => read(() => store.readOne(key))),
      transact: (writes) => alive(() => write(() => store.transact(writes))),
      save(writes, etag, needed = 0) {
        const half = writes.slice(0, Math.max(needed, writes.length / 2))
        const [saveAll, saveHalf] = [writes, half].map((some) => () => store.save(some, etag, needed))
        return alive(() => write(saveAll as () => Promise<void>, saveHalf))
      },
      remove: (keys) => alive(() => write(() => store.remove(keys))),
      store: () => store.store(),
      storeServer: () => store.storeServer(),
      requireServer: (server) => store.requireServer(server),
      fault: () => store.fault(),
      storeFault: () => store.storeFault(),
    }
  }

  /** Returns the failure once, when it is due. */
  #met(kind: Failure['kind']): Failure | undefined {
    const failure = this.#failure
    if (failure?.kind !== kind) return undefined
    failure.skipped -= 1
    if (failure.skipped >= 0) return undefined
    this.#failure = undefined
    return failure
  }
}
