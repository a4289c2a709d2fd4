import type { EventName } from '@orderflow/envelope'
import { topicOfEvent } from '@orderflow/envelope/kafka'
import {
  type BaseSettings,
  createDocuments,
  createParts,
  readSettings,
  type ServiceDefinition,
} from '@orderflow/service-kit'
import { rebuildStore } from '@orderflow/service-kit/operations'
import { capturedLog, FakeLog, FakeSidecar, type SubjectEvent } from '@orderflow/service-kit/testing'
import { type Documents, domainDocuments } from '../domain-documents.ts'
import { type Exchange, exchange } from './exchange.ts'
import { type Kill, startProcesses } from './memory-processes.ts'
import type { Reads } from './reads.ts'

/** A record of the log. */
export interface ScenarioRecord {
  topic: string
  key: string | undefined
  /** Null for a tombstone. */
  value: Uint8Array | null
}

/** Returns the record of an event, as its publisher writes it. */
export const recordOf = ({
  topic,
  key,
  envelope,
}: Omit<SubjectEvent, 'envelope'> & { envelope: object }): ScenarioRecord => ({
  ...{ topic, key, value: Buffer.from(JSON.stringify(envelope)) },
})

export interface Rejected {
  reason: string
  detail: string
}

export type MemoryService = ReturnType<typeof startMemoryService>

/** Returns true for the topic of passed deadlines. */
export const isPassed = (topic: string): boolean => topic === topicOfEvent('DeadlinePassed' as EventName)

/** The sidecar repeats a delivery every second (components/resiliency.yaml). */
const retryMs = 1_000
const maxDeliveries = 10
/** Dapr delivers a record without a value as this text. */
const tombstone = 'null'
export const memoryTokens = { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' }

/**
 * Returns a function that starts the service, because reading the settings takes longer than the rest.
 * @param variables environment variables with settings of the service
 * @param reads receives the fields that the service reads
 */
export function memoryServices<S extends object>(
  definition: ServiceDefinition<S>,
  variables: Record<string, string>,
  reads: Reads,
) {
  const settings = readSettings(definition, { ...memoryTokens, ...variables })
  // A service in memory does not look for earlier dead letters in Kafka.
  settings.Stream.Brokers = ''
  return () => startMemoryService(definition, settings, reads)
}

interface Position {
  offset: string
  timestamp: number
}

/** Starts a service in memory, with an empty store, an own log and virtual time. */
function startMemoryService<S extends object>(
  definition: ServiceDefinition<S>,
  settings: BaseSettings & S,
  reads: Reads,
) {
  const sidecar = new FakeSidecar()
  const { log, records } = capturedLog()
  let ids = 0
  const newId = () => {
    ids += 1
    return `00000000-0000-4000-8000-${String(ids).padStart(12, '0')}`
  }
  const processes = startProcesses(definition, { settings, log, newId, sidecar, reads })
  const { parts, now } = processes
  const { reactions } = parts
  let deliveries = 0
  const stream = new FakeLog()
  const positions = new Map<ScenarioRecord, Position>()
  let logged = 0
  const errors = () =>
    records.flatMap(({ level, msg, err, reason }) => {
      const { stack } = (err ?? {}) as { stack?: string }
      return level === 'error' ? [[msg, stack ?? reason].filter(Boolean).join(': ')] : []
    })

  function append(record: ScenarioRecord & { headers?: Record<string, string> }): Position {
    const { topic, key, value, headers = {} } = record
    const { offset } = stream.append({ topic, key, value: value ?? '', headers, timestamp: now().getTime() })
    const position = { offset, timestamp: now().getTime() }
    positions.set(record, position)
    return position
  }

  function passTime(ms: number): void {
    appendPublished()
    processes.passTime(ms)
  }

  /** Appends what the service has published to the log. */
  function appendPublished(): void {
    for (const record of sidecar.published.slice(logged)) append(record)
    logged = sidecar.published.length
  }

  async function rebuilt(): Promise<Documents> {
    appendPublished()
    const rebuiltSidecar = new FakeSidecar()
    const isShared = settings.Auth.Mode !== 'closed'
    const nothing = async () => {}
    const context = { settings, log, publish: nothing, forward: nothing, trust: { requireAdmitted() {} }, newId }
    await rebuildStore({
      ...{
        app: settings.App.Name,
        trust: { requireGenuine() {} },
        refusals: new Set(Object.keys(definition.refusals)),
      },
      ...{ log: stream, isShared, onProgress() {}, onWait() {}, onStored() {}, untilPublished: nothing },
      documentsOf: createDocuments(rebuiltSidecar, now, isShared),
      rebuildOn: (documents) => createParts(definition, { ...context, documents, now }).rebuild,
    })
    return documentsIn(rebuiltSidecar)
  }

  async function fire(kill?: Kill): Promise<void> {
    await processes.fire(kill).catch((error: Error) => {
      throw new Error(`${error.message}:\n${errors().join('\n')}`, { cause: error })
    })
  }

  async function deliverOnce(record: ScenarioRecord, { offset, timestamp }: Position): Promise<string | undefined> {
    const { topic, key, value } = record
    const metadata = {
      __partition: '0',
      __offset: offset,
      __timestamp: String(timestamp),
      ...(key !== undefined && { __key: encodeURIComponent(key) }),
    }
    const entries = [{ entryId: '1', event: Buffer.from(value ?? tombstone).toString('base64'), metadata }]
    const { body } = await exchange(processes.app.channel, {
      ...{ method: 'POST', path: `/subscriptions/${topic}`, body: { entries } },
      headers: { 'dapr-api-token': memoryTokens.APP_API_TOKEN },
    })
    return (body as { statuses?: { status: string }[] } | undefined)?.statuses?.[0]?.status
  }

  return {
    parts,
    sidecar,
    /** The log, to which published records are appended later (`rebuilt`). */
    stream,
    /** The public listener. */
    get web() {
      return processes.app.web
    },
    /** The number of deliveries, with repeated ones. */
    get deliveries() {
      return deliveries
    },
    /** Returns the topic on which the service handles events of this name. @throws {Error} if it handles no such events */
    topicOf(name: string): string {
      const topic = Object.keys(reactions).find((each) => Object.hasOwn(reactions[each] ?? {}, name))
      if (topic !== undefined) return topic
      throw new Error(`the service has no reaction to ${name}: add a reaction, or pass a record with its topic`)
    },
    handles: (topic: string) => Object.hasOwn(reactions, topic),
    /** Delivers a record as the sidecar does, and again after a virtual second while the service asks for it. */
    async deliver(record: ScenarioRecord): Promise<void> {
      appendPublished()
      const position = positions.get(record) ?? append(record)
      for (let tries = 1; ; tries += 1) {
        deliveries += 1
        if ((await deliverOnce(record, position)) === 'SUCCESS') return
        if (tries === maxDeliveries)
          throw new Error(`the service asked for ${maxDeliveries} deliveries of an event:\n${errors().join('\n')}`)
        passTime(retryMs)
      }
    },
    request: (request: Exchange) => exchange(processes.app.web, request),
    passTime,
    isDue: processes.isDue,
    begin: processes.begin,
    fire,
    fireAgain: processes.fireAgain,
    /** Makes the next write to the store fail. */
    failNextWrite(error: Error) {
      sidecar.failures.transact.push(error)
    },
    get published(): readonly (ScenarioRecord & { value: Uint8Array })[] {
      return sidecar.published.filter(({ headers }) => !isDeadLetter(headers))
    },
    get rejected(): readonly Rejected[] {
      return sidecar.published.flatMap(({ headers }) =>
        isDeadLetter(headers)
          ? [{ reason: headers['deadletter-reason'] ?? '', detail: headers['deadletter-detail'] ?? '' }]
          : [],
      )
    },
    documents: () => documentsIn(sidecar),
    /** Returns the documents that a rebuild makes from the log. */
    rebuilt,
    /** Returns the errors that the service has logged. */
    errors,
  }
}

const documentsIn = (sidecar: FakeSidecar): Documents =>
  domainDocuments([...sidecar.documents].map(([key, { value }]) => [key, JSON.stringify(value)]))

const isDeadLetter = (headers: Record<string, string>) => headers['deadletter-reason'] !== undefined
