import { setTimeout as delay } from 'node:timers/promises'
import { isOutage, LostWritesError, type Sidecar, SidecarError } from '../sidecar/sidecar.ts'
import type { Logger } from '../telemetry/log.ts'

/** Compares the store with the log. Its functions fail if the store or Kafka does not answer. */
export interface StoreComparison {
  /** Returns the reason if the store lacks acknowledged writes; otherwise undefined. It remembers the result in the store. */
  compare(): Promise<string | undefined>
  /**
   * Remembers the positions up to which events are handled.
   * @param isChanged true if events were handled, or documents were written, since the last call
   * @returns 'suspect' if the store may have lost writes
   */
  remember(isChanged: boolean): Promise<'suspect' | undefined>
}

export type StoreWatch = ReturnType<typeof createStoreWatch>

const intervalMs = 1_000
/** The number of intervals between two updates of the remembered positions. */
const updateEvery = 5
/** The time after an attempt during which calls begin no further one. */
const pauseMs = 500
const faultWaitMs = 2_000
/** The number of intervals for which a call waits for a comparison. Then it fails, because a comparison of many events may take minutes. */
const maxWaits = 10
/** The time for which comparisons may fail before a warning. */
const quietMs = 10_000
/** The number of updates after the last event, because the sidecar commits its position up to a second later. */
const updatesPerChange = 2

type State = { is: 'off' | 'unverified' | 'verified' } | { is: 'lost'; reason: string }

const comparing = 'the service compares its store with the log before it handles events'

/** Notices that the store lost acknowledged writes, for example in a failover to a standby that was behind (docs/adr/0056). */
export function createStoreWatch(
  sidecar: Sidecar,
  comparison: StoreComparison,
  log: Pick<Logger, 'error' | 'info' | 'warn'>,
  everyMs = intervalMs,
) {
  let state: State = { is: 'off' }
  let generation = 0
  let attempt: Promise<void> | undefined
  let attemptedAt = Number.NEGATIVE_INFINITY
  let failingSince: number | undefined
  let isWarned = false
  /** True if the last comparison failed because of Kafka. Calls then do not wait for the next one, because an outage of Kafka may be long. */
  let isKafkaDown = false
  let updates = updatesPerChange

  function suspect(): void {
    if (state.is !== 'verified') return
    state = { is: 'unverified' }
    generation += 1
  }

  function settle(reason: string | undefined): void {
    if (reason !== undefined && state.is !== 'lost') log.error({ reason }, 'the store lost acknowledged writes')
    if (reason === undefined && state.is === 'lost') log.info('the store is complete again')
    state = reason === undefined ? { is: 'verified' } : { is: 'lost', reason }
    failingSince = undefined
    isWarned = false
  }

  /** Warns once if comparisons fail for some time. At the start of a stack, the sidecar and the service start together. */
  function noteFailure(err: unknown): void {
    failingSince ??= performance.now()
    if (isWarned || performance.now() - failingSince < quietMs) return
    log.warn({ err }, 'the comparison of the store with the log fails and is repeated; events wait until then')
    isWarned = true
  }

  async function run(): Promise<void> {
    const before = generation
    try {
      const reason = await comparison.compare()
      isKafkaDown = false
      if (generation === before) settle(reason)
    } catch (err) {
      isKafkaDown = !(err instanceof SidecarError)
      noteFailure(err)
    }
    attemptedAt = performance.now()
    attempt = undefined
  }

  function verify(): Promise<void> {
    attempt ??= run()
    return attempt
  }

  async function pass(): Promise<void> {
    const isDue = attempt !== undefined || performance.now() - attemptedAt > pauseMs
    if (state.is === 'unverified' && isDue && !isKafkaDown) {
      const late = delay(maxWaits * everyMs, true, { ref: false })
      if (await Promise.race([verify(), late])) throw new SidecarError('use the store', comparing)
    }
    if (state.is === 'lost') throw new LostWritesError(state.reason)
  }

  const guarded =
    <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      await pass()
      try {
        return await call(...args)
      } catch (error) {
        if (isOutage(error)) suspect()
        throw error
      }
    }

  /** Also updates the positions after writes of requests, whose events may be in topics that the service does not consume. */
  const writing = <Args extends unknown[]>(call: (...args: Args) => Promise<void>) =>
    guarded(async (...args: Args) => {
      await call(...args)
      updates = updatesPerChange
    })

  async function update(): Promise<void> {
    const isChanged = updates > 0
    if (isChanged) updates -= 1
    try {
      if ((await comparison.remember(isChanged)) === 'suspect') suspect()
    } catch (error) {
      if (isOutage(error)) suspect()
    }
  }

  async function watch(): Promise<never> {
    for (let turn = 1; ; turn += 1) {
      if (state.is !== 'verified') await verify()
      else if (turn % updateEvery === 0) await update()
      await delay(everyMs, undefined, { ref: false })
    }
  }

  /** The sidecar whose store is watched. Its calls fail if the store lost writes, and wait while the store is compared with the log. */
  const watched: Sidecar = {
    ...sidecar,
    publish: (...args) => sidecar.publish(...args),
    fault: () => sidecar.fault(),
    storeFault: () => sidecar.storeFault(),
    store: () => sidecar.store(),
    storeServer: () => sidecar.storeServer(),
    requireServer: (server) => sidecar.requireServer(server),
    read: guarded((keys: string[]) => sidecar.read(keys)),
    readOne: guarded((key: string) => sidecar.readOne(key)),
    transact: writing((...args: Parameters<Sidecar['transact']>) => sidecar.transact(...args)),
    save: writing((...args: Parameters<Sidecar['save']>) => sidecar.save(...args)),
    remove: guarded((keys: string[]) => sidecar.remove(keys)),
  }

  return {
    sidecar: watched,

    /** Begins to watch. Before this call, the store is treated as complete. */
    start(): void {
      state = { is: 'unverified' }
      void watch()
    },

    /** Returns the reason if the store lost writes. It waits for a comparison, for at most two seconds. */
    async fault(): Promise<string | undefined> {
      if (state.is === 'unverified') await Promise.race([verify(), delay(faultWaitMs, undefined, { ref: false })])
      return state.is === 'lost' ? state.reason : undefined
    },

    /** Returns the reason if events wait for a comparison; otherwise undefined. */
    waits: () => (state.is === 'unverified' ? comparing : undefined),

    /** Returns the reason why no event may be handled; otherwise undefined. Call it before each event. */
    blockedBy(): string | undefined {
      if (state.is === 'off' || state.is === 'verified') {
        updates = updatesPerChange
        return undefined
      }
      return state.is === 'lost' ? state.reason : comparing
    },

    /** Returns a number that grows when the store may have lost writes. Then remembered documents are no longer reliable. */
    generation: () => generation,
  }
}
