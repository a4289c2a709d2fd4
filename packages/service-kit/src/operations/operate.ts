import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { momentProblem, parseMoment } from '@orderflow/envelope'
import { type KafkaConnection, LogError, type LogReader, openLog, requireConnection } from '@orderflow/kafka-log'
import { applicationFile } from '../application/file.ts'
import { readApplication } from '../application/read.ts'
import { createParts, formOf } from '../runtime/create-app.ts'
import type { ServiceDefinition } from '../runtime/define-service.ts'
import { bypassProxies } from '../runtime/process/loopback.ts'
import { failureText } from '../runtime/process/run.ts'
import { readSettings } from '../runtime/settings/settings.ts'
import { createSidecar } from '../sidecar/dapr-sidecar.ts'
import { createDocuments, type DocumentsOf } from '../state/documents.ts'
import { forgetMark } from '../state/position-mark.ts'
import type { Reactions } from '../stream/consuming/event-handler.ts'
import { createLog } from '../telemetry/log.ts'
import { contractMask } from '../telemetry/mask.ts'
import { readTrust } from '../trust/read-trust.ts'
import { deadLettersCommand } from './dead-letters/command.ts'
import { type Consuming, dryRunsIn } from './dead-letters/effects.ts'
import { patiently, type RebuildCounts, type RebuildOptions, rebuildTopic, storeFailure } from './rebuild.ts'
import { rebuildStore } from './rebuild-store.ts'
import { OperationError, parseArguments, printLines } from './terminal.ts'
import { memberCounter, untilStopped } from './until-stopped.ts'

const commands = 'rebuild, deadlines or dead-letters'

/** Runs an operator's command with the service's settings, such as `node src/operate.ts rebuild ...`. */
export async function operate<S extends object>(service: ServiceDefinition<S>): Promise<void> {
  bypassProxies(process.env)
  // A command must continue if the reader of its output ends early, as in `| head`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
  try {
    process.exitCode = await command(service, process.argv.slice(2))
  } catch (failure) {
    const error = failure instanceof LogError ? unreadableLog(failure) : failure
    const isExpected = error instanceof OperationError
    process.stderr.write(`error: ${isExpected ? error.message : failureText(error, contractMask)}\n`)
    if (isExpected && error.nextStep) process.stderr.write(`next: ${error.nextStep}\n`)
    process.exitCode = 1
  }
}

const unreadableLog = (cause: LogError) =>
  new OperationError(cause.message, {
    nextStep: 'check that Kafka runs (make up), and that Stream__Brokers is right',
    cause,
  })

/** Returns the services of the application. The variable `Monitor__DryRuns` has the addresses at which they answer dry runs. */
function consumersNear(root: URL, { Monitor__DryRuns = '' }: NodeJS.ProcessEnv): Consuming[] {
  const { services } = readApplication(applicationFile(fileURLToPath(root)))
  const dryRuns = dryRunsIn(Monitor__DryRuns)
  return Object.entries(services).map(([name, { consumes }]) => ({
    name,
    consumes: Object.keys(consumes),
    dryRun: dryRuns.get(name),
  }))
}

async function publishesNothing(): Promise<void> {
  throw new Error('this command publishes nothing')
}

async function command<S extends object>(service: ServiceDefinition<S>, [name, ...args]: string[]): Promise<number> {
  const settings = readSettings(service, process.env)
  const kafka = requireConnection(settings.Stream)
  const trust = readTrust(service.root, settings.Trust)
  if (name === 'dead-letters')
    return await deadLettersCommand(args, kafka, trust, consumersNear(service.root, process.env))
  if (name !== 'rebuild' && name !== 'deadlines')
    throw new OperationError(`unknown command ${name ?? '(none)'}`, { nextStep: commands })
  const now = () => new Date()
  const isShared = settings.Auth.Mode !== 'closed'
  const sidecar = createSidecar(settings)
  const documentsOf = createDocuments(sidecar, now, isShared)
  const partsOn = (documents: DocumentsOf) =>
    createParts(service, {
      settings,
      log: createLog(settings.App.Name, 'silent'),
      publish: publishesNothing,
      forward: publishesNothing,
      trust,
      documents,
      now,
      newId: () => crypto.randomUUID(),
    })
  const common = { app: settings.App.Name, kafka, trust, refusals: new Set(Object.keys(service.refusals)) }
  if (name === 'deadlines') await deadlinesCommand(args, { ...common, retime: partsOn(documentsOf).retime })
  else
    await rebuildCommand(args, {
      ...common,
      rebuildOn: (documents) => partsOn(documents).rebuild,
      documentsOf,
      isShared,
      onRebuilt: () => forgetMark(sidecar, formOf(partsOn(documentsOf))),
    })
  // A service can then fire the deadlines at once.
  await documentsOf('').firing.leave()
  return 0
}

const rebuildUsage = `rebuild [--topic TOPIC] [--from MOMENT] [--to MOMENT] [--when-stopped]
A MOMENT is a date-time with an offset, such as 2026-11-21T10:00Z. By default, the whole log is read.
--when-stopped first waits until no sidecar of the service consumes`

/** Gives all stored entities the deadlines of this release. It may be killed and repeated, or run while the service runs. */
export async function deadlinesCommand(
  args: string[],
  { kafka, retime, ...options }: LogOptions & { retime: Reactions<boolean> },
  open: typeof openLog = openLog,
): Promise<void> {
  parseArguments({ args }, 'deadlines')
  const topics = Object.entries(retime)
  if (topics.length === 0)
    throw new OperationError(`${options.app} has no deadlines`, {
      nextStep: 'name a service with "deadlines" or "calls" in services.json',
    })
  const log = open(kafka)
  try {
    for (const [topic, handlers] of topics) {
      const counts = await rebuildTopic(topic, handlers, { ...options, ...progress(log), range: {} })
      printLines(summary(topic, counts, ['with new deadlines', 'unchanged']))
    }
  } finally {
    await log.close()
  }
}

/** Returns functions that print the progress of a command that reads the log. */
function progress(log: LogReader): Pick<RebuildOptions, 'onProgress' | 'onWait' | 'log'> {
  const complain = occasionally(10_000)
  const tell = new Map<string, (line: string) => void>()
  return {
    log,
    onProgress(topic, { read }, left) {
      const own = tell.get(topic) ?? occasionally(2_000)
      tell.set(topic, own)
      own(`${topic}: ${read} read, at most ${left} to go`)
    },
    onWait: (reason) => complain(`the store is unavailable, trying again: ${reason}`),
  }
}

interface LogOptions extends Pick<RebuildOptions, 'app' | 'trust' | 'refusals'> {
  kafka: KafkaConnection
}

type StoreOptions = Parameters<typeof rebuildStore>[0]

interface RebuildCommandOptions extends LogOptions, Pick<StoreOptions, 'rebuildOn' | 'documentsOf' | 'isShared'> {
  /** Is called after a rebuild up to the end of all topics, and again if the store fails. */
  onRebuilt: () => Promise<void>
}

export async function rebuildCommand(
  args: string[],
  { kafka, onRebuilt, ...options }: RebuildCommandOptions,
  open: typeof openLog = openLog,
): Promise<void> {
  const rebuild = options.rebuildOn(options.documentsOf)
  const { topic, whenStopped, ...range } = readArguments(args)
  const chosen = Object.entries(rebuild).filter(([name]) => topic === undefined || name === topic)
  if (chosen.length === 0) {
    throw new OperationError(`${options.app} rebuilds nothing from ${topic}`, {
      nextStep: `set --topic to one of ${Object.keys(rebuild).join(', ')}, or leave it out`,
    })
  }
  if (whenStopped)
    await untilStopped(options.app, { countMembers: memberCounter(kafka, options.app), onWait: occasionally(10_000) })
  const log = open(kafka)
  const tellStored = occasionally(2_000)
  const common = progress(log)
  try {
    if (topic === undefined && !range.from && !range.to) {
      const onStored = (documents: number) => tellStored(`${documents} documents compared with the store`)
      const counts = await rebuildStore({ ...options, ...common, onStored, untilPublished })
      for (const [name, own] of counts) printLines(summary(name, own))
    } else {
      // A part of the log adds its events to the documents of the store.
      for (const [name, own] of chosen)
        printLines(summary(name, await rebuildTopic(name, own, { ...options, ...common, range })))
    }
    if (topic === undefined && range.to === undefined) {
      await patiently(onRebuilt, common.onWait).catch((cause: unknown) => {
        throw storeFailure(cause)
      })
    }
  } finally {
    await log.close()
  }
}

/** The longest time after which a running service has published the event of a saved document: the time-out of a call to its sidecar. */
const publishMs = 10_000

async function untilPublished(): Promise<void> {
  printLines([`some documents will be replaced; waiting ${publishMs / 1_000} s for events that the service publishes`])
  await delay(publishMs)
}

function readArguments(args: string[]) {
  const text = { type: 'string' } as const
  const options = { topic: text, from: text, to: text, 'when-stopped': { type: 'boolean' } } as const
  const { topic, from, to, 'when-stopped': whenStopped } = parseArguments({ args, options }, rebuildUsage).values
  return { topic, whenStopped, from: moment('from', from), to: moment('to', to) }
}

function moment(name: string, text: string | undefined): Date | undefined {
  const problem = text === undefined ? undefined : momentProblem(text)
  if (problem) throw new OperationError(`--${name} ${problem}`, { nextStep: rebuildUsage })
  return text === undefined ? undefined : parseMoment(text)
}

/** Returns a function that prints at most one line in `everyMs` milliseconds, and drops all other lines. */
function occasionally(everyMs: number): (line: string) => void {
  let next = 0
  return (line) => {
    if (performance.now() < next) return
    next = performance.now() + everyMs
    printLines([line])
  }
}

function summary(
  topic: string,
  { read, applied, unchanged, unhandled, aside, faulty }: RebuildCounts,
  [changed, known] = ['applied', 'already applied'],
): string[] {
  const skipped = [
    ['skipped because of their dead letters', aside],
    ['invalid, but not dead letters', faulty],
  ] as const
  return [
    `${topic}: ${read} read: ${applied} ${changed}, ${unchanged} ${known}, ${unhandled} not needed`,
    ...skipped.flatMap(([what, reasons]) => {
      const list = Object.entries(reasons).map(([reason, count]) => `${reason} ${count}`)
      return list.length > 0 ? [`${topic}: ${what}: ${list.join(', ')}`] : []
    }),
  ]
}
