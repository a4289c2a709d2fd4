import { parseArgs } from 'node:util'
import { momentProblem, parseMoment } from '@orderflow/envelope-schema'
import type { Reactions } from '../stream/intake.ts'
import type { KafkaConnection } from '../stream/kafka.ts'
import type { Trust } from '../trust/trust.ts'
import { openLog } from './open-log.ts'
import { OperationError } from './operation-error.ts'
import { type RebuildCounts, rebuildTopic } from './rebuild.ts'
import { printLines } from './terminal.ts'

const usage = `rebuild [--topic TOPIC] [--from MOMENT] [--to MOMENT]
a MOMENT is a date-time with an offset, such as 2026-11-21T10:00Z; all that the log holds when left out`

export interface RebuildCommandOptions {
  app: string
  kafka: KafkaConnection
  trust: Trust
  /** See `momentOf`. */
  positionIdsBefore: number
  refusals: ReadonlySet<string>
  /** What the service rebuilds from, by topic in the order in which they are read. */
  rebuild: Reactions<boolean>
}

/** Runs `rebuild`: rebuilds the service's store from the log, and says what came of it. */
export async function rebuildCommand(
  args: string[],
  { app, kafka, trust, positionIdsBefore, refusals, rebuild }: RebuildCommandOptions,
): Promise<void> {
  const { topic, ...range } = readArguments(args)
  const chosen = Object.entries(rebuild).filter(([name]) => topic === undefined || name === topic)
  if (chosen.length === 0) {
    throw new OperationError(`${app} rebuilds nothing from ${topic}`, {
      nextStep: `--topic is one of ${Object.keys(rebuild).join(', ')}, or left out`,
    })
  }
  const log = openLog(kafka)
  try {
    for (const [name, own] of chosen) {
      const [tell, complain] = [occasionally(2_000), occasionally(10_000)]
      const counts = await rebuildTopic(name, own, {
        app,
        trust,
        positionIdsBefore,
        refusals,
        log,
        range,
        onProgress: (topic, { read }, left) => tell(`${topic}: ${read} read, at most ${left} to go`),
        onWait: (reason) => complain(`the store is not there, trying again: ${reason}`),
      })
      printLines(summary(name, counts))
    }
  } finally {
    await log.close()
  }
}

function readArguments(args: string[]) {
  try {
    const options = { topic: { type: 'string' }, from: { type: 'string' }, to: { type: 'string' } } as const
    const { topic, from, to } = parseArgs({ args, options }).values
    return { topic, from: moment('from', from), to: moment('to', to) }
  } catch (cause) {
    if (cause instanceof OperationError) throw cause
    throw new OperationError((cause as Error).message, { nextStep: usage, cause })
  }
}

function moment(name: string, text: string | undefined): Date | undefined {
  const problem = text === undefined ? undefined : momentProblem(text)
  if (problem) throw new OperationError(`--${name} ${problem}`, { nextStep: usage })
  return text === undefined ? undefined : parseMoment(text)
}

/** Prints a line now, and others no more often than this. */
function occasionally(everyMs: number): (line: string) => void {
  let next = 0
  return (line) => {
    if (performance.now() < next) return
    next = performance.now() + everyMs
    printLines([line])
  }
}

function summary(topic: string, { read, applied, unchanged, unhandled, aside, faulty }: RebuildCounts): string[] {
  const skipped = [
    ['left aside as dead letters', aside],
    ['faulty, and no dead letters', faulty],
  ] as const
  return [
    `${topic}: ${read} read: ${applied} applied, ${unchanged} known already, ${unhandled} of no concern`,
    ...skipped.flatMap(([what, reasons]) => {
      const list = Object.entries(reasons).map(([reason, count]) => `${reason} ${count}`)
      return list.length > 0 ? [`${topic}: ${what}: ${list.join(', ')}`] : []
    }),
  ]
}
