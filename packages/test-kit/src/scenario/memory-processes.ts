import {
  type AllParts,
  type App,
  type BaseSettings,
  createApp,
  type Documents,
  type ServiceDefinition,
} from '@orderflow/service-kit'
import { type FakeSidecar, Killed, mortalSidecar } from '@orderflow/service-kit/testing'
import { definitionWatched, type Reads } from './reads.ts'

/** The time at which each run begins. */
export const beginning = '2026-01-01T00:00:00.000Z'

/** The moment at which a process is killed: before or after it announces the first deadline that passes. */
export type Kill = 'before' | 'after'

/** A process of the service. */
interface Process {
  app: App
  parts: AllParts
  documents: () => Documents
  killed: Promise<never>
}

/** A deadline of a document. */
interface Due {
  /** The full key of the document. */
  key: string
  name: string
  /** Milliseconds since 1970. */
  at: number
}

/** Longer than the time after which a process takes over the deadlines of a killed one. */
const silenceMs = 30_000
/** Longer than the pause between deadlines that are fired. */
const lookMs = 100

type Dependencies<S extends object> = Pick<Parameters<typeof createApp<S>>[1], 'log' | 'newId'> & {
  settings: BaseSettings & S
  sidecar: FakeSidecar
  reads: Reads
}

/** Starts a process of a service, with virtual time. If it is killed, another one follows. */
export function startProcesses<S extends object>(
  definition: ServiceDefinition<S>,
  { sidecar, reads, ...dependencies }: Dependencies<S>,
) {
  let now = Date.parse(beginning)
  /** The time since the beginning. It passes with each look at this clock, so that a process never waits between the deadlines that it fires. */
  let elapsed = 0
  let kill: Kill | undefined
  const clocks = {
    now: () => new Date(now),
    elapsed() {
      elapsed += lookMs
      return elapsed
    },
  }

  function start(): Process {
    let created: Pick<Process, 'parts' | 'documents'> | undefined
    const watched = definitionWatched(definition, reads, (parts, { documents }) => {
      created = { parts, documents: () => documents('') }
    })
    const mortal = mortalSidecar(sidecar, (call) => (call === 'publish' ? kill : undefined))
    const app = createApp(watched, { ...dependencies, ...clocks, sidecar: mortal.sidecar })
    return { ...(created as unknown as Process), app, killed: mortal.killed }
  }

  let process = start()
  const fired = new Map<string, Due>()
  const hasSchedules = process.parts.entities?.some(({ schedules }) => schedules) ?? false
  /** True if schedules have not seen the present time. */
  let isScheduled = false

  /** Returns the stored deadlines that are due and were not fired. */
  function due(): Due[] {
    return [...sidecar.documents].flatMap(([key, { value }]) => {
      const { deadlines = {} } = Object(value) as { deadlines?: Record<string, { at: string; fired?: true }> }
      return Object.entries(deadlines).flatMap(([name, { at, fired }]) =>
        fired || Date.parse(at) > now ? [] : [{ key, name, at: Date.parse(at) }],
      )
    })
  }

  /** Does the work that a service repeats every second. */
  async function sweep(): Promise<void> {
    const { parts, documents } = process
    const { announcing, firing } = documents()
    await announcing.sweep()
    await firing.sweep()
    for (const { schedules } of parts.entities ?? []) await schedules?.pass(new Date(now))
    isScheduled = false
  }

  return {
    get app() {
      return process.app
    },
    parts: process.parts,
    now: clocks.now,
    /** Moves all clocks. */
    passTime(ms: number): void {
      now += ms
      elapsed += ms
      isScheduled = hasSchedules
    },
    /** Starts the schedules, which begin when a service first runs. */
    async begin(): Promise<void> {
      if (hasSchedules) await sweep()
    },
    isDue: () => isScheduled || due().length > 0,
    /** Lets due deadlines and schedules pass. If this kills the process, another one takes over. @throws {Error} if a deadline does not pass */
    async fire(moment?: Kill): Promise<void> {
      for (const entry of due()) fired.set(JSON.stringify(entry), entry)
      kill = moment
      await Promise.race([sweep(), process.killed]).catch(async (error: unknown) => {
        if (!(error instanceof Killed)) throw error
        kill = undefined
        process = start()
        await sweep()
        // The other clocks stand still, so no other deadline becomes due.
        elapsed += silenceMs
        await sweep()
      })
      if (due().length > 0) throw new Error('deadlines are due, but do not pass')
    },
    /** Fires all deadlines again that have passed, as a replica with an outdated index does. */
    async fireAgain(): Promise<void> {
      for (const entry of fired.values())
        for (const { fire } of process.parts.entities ?? []) await fire?.(entry, false)
    },
  }
}
