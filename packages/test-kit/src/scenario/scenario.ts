import type { ServiceDefinition } from '@orderflow/service-kit'
import { underKey } from '@orderflow/service-kit/testing'
import type { Answer, Exchange } from './exchange.ts'
import { checkRebuilt, checkResult, DifferenceError, type Expected } from './expected.ts'
import type { Kill } from './memory-processes.ts'
import { isPassed, type MemoryService, memoryServices, recordOf, type ScenarioRecord } from './memory-service.ts'
import { type Choose, tryOrders } from './orders.ts'
import { keepReads, type Reads } from './reads.ts'
import { msOf, type ScenarioEvent, type Step } from './steps.ts'

/** A test of one service in memory: `scenario(service).given(…).when(…).then({ … })`. */
export interface Scenario {
  /** Adds events and requests before the tested ones. */
  given(...steps: Step[]): Scenario
  /** Adds the tested events and requests. */
  when(...steps: Step[]): Scenario
  /** Delivers the events in the given order only. Second deliveries of an event still come at any later time. */
  inOrder(): Scenario
  /**
   * Runs the scenario once for each order of its events, each delivered twice, and checks each run. If the service can rebuild its store, a rebuild from
   * the log must give the same documents. Requests and the passage of time keep their place: they follow the first delivery of all earlier events, and
   * the deadlines that are due.
   * @throws {Error} names the order of the first failed run, and the seed that repeats it
   */
  then(expected: Expected): Promise<void>
}

/** The largest number of orders that a scenario tries. Three events have 90 orders with their second deliveries. */
const maxRuns = 100

/** The same for a scenario in which time passes, because a run with deadlines takes several times as long. */
const maxTimedRuns = 50

/** The number of runs for each rebuild, which takes ten times as long as a run. */
const rebuiltEvery = 10

/** @param settings environment variables with settings of the service, such as `{ Web__Proxies: '1' }` */
export function scenario<S extends object>(
  service: ServiceDefinition<S>,
  settings: Record<string, string> = {},
): Scenario {
  return scenarioOf(service, { settings, steps: [], isInOrder: false })
}

interface Plan {
  settings: Record<string, string>
  steps: readonly Step[]
  isInOrder: boolean
}

function scenarioOf<S extends object>(service: ServiceDefinition<S>, plan: Plan): Scenario {
  const add = (...steps: Step[]) => scenarioOf(service, { ...plan, steps: [...plan.steps, ...steps] })
  return {
    given: add,
    when: add,
    inOrder: () => scenarioOf(service, { ...plan, isInOrder: true }),
    // biome-ignore lint/suspicious/noThenProperty: the usual word for the expected result. TypeScript refuses to await a scenario
    async then(expected, ...others: unknown[]) {
      if (typeof expected === 'function') {
        // `await` and Mocha call the method of a promise, which has a second function for errors.
        const [refuse] = others as [(error: Error) => void]
        return refuse(
          new TypeError('this scenario has no expected result: call then({ … }) before you await or return it'),
        )
      }
      const reads: Reads = new Map()
      const start = memoryServices(service, plan.settings, reads)
      const delivered: string[] = []
      const isTimed = plan.steps.some((step) => 'later' in step)
      let runs = 0
      const failure = await tryOrders(
        async (choose) => {
          delivered.length = 0
          const memory = start()
          const answer = await run(memory, plan, choose, (what) => delivered.push(what))
          checkResult({ service: memory, answer }, expected)
          if (runs % rebuiltEvery === 0 && Object.keys(memory.parts.rebuild).length > 0)
            checkRebuilt(memory.documents(), await memory.rebuilt())
          runs += 1
        },
        { limit: isTimed ? maxTimedRuns : maxRuns, ...(process.env.SEED && { seed: process.env.SEED }) },
      )
      if (failure) throw described(failure.error, failure.seed, failure.runs, delivered)
      keepReads(service.root, reads)
    },
  }
}

/** Adds the order to the message of an error. */
function described(error: unknown, seed: string, runs: number, delivered: string[]): Error {
  const order = delivered.map((what, index) => `  ${index + 1}. ${what}`).join('\n')
  const text = `failed in order ${runs}, which SEED=${seed} repeats:\n${order}`
  if (error instanceof DifferenceError)
    return new DifferenceError(`${error.message}\n${text}`, error.actual, error.expected)
  return new Error(`${(error as Error).message}\n${text}`, { cause: error })
}

/** A step that can still happen `left` times. */
interface Pending {
  name: string
  left: number
  hasHappened: boolean
  /** The step waits until each step of an earlier group has happened. The service's own events have no group: they come at any time. */
  group: number | undefined
  /** A step that must have happened before. */
  after?: Pending | undefined
  happen(): Promise<void>
}

/** The ends of a process while deadlines pass. Usually, it continues. */
const kills: readonly { moment?: Kill; text?: string }[] = [
  {},
  { moment: 'before', text: 'the process is killed before it announces them' },
  { moment: 'after', text: 'the process is killed when it has announced them' },
]

export async function run(
  memory: MemoryService,
  { steps, isInOrder }: Plan,
  choose: Choose,
  onStep: (what: string) => void,
): Promise<Answer | undefined> {
  let answer: Answer | undefined
  const ask = async (request: Exchange) => {
    answer = await memory.request(request)
  }
  const deliveries = (record: ScenarioRecord, name: string, group?: number): Pending => ({
    ...{ name, left: 2, hasHappened: false, group },
    happen: () => memory.deliver(record),
  })
  const once = (name: string, group: number | undefined, happen: () => Promise<void>): Pending => ({
    ...{ name, left: 1, hasHappened: false, group, happen },
  })
  let group = 0
  /** The group of deadlines that are due: that of the events after the last passage of time. */
  let due: number | undefined
  const firing: Pending = {
    ...{ name: 'due deadlines pass', left: 0, hasHappened: true, group: undefined },
    async happen() {
      const { moment, text } = kills[choose(kills.length)] as (typeof kills)[number]
      if (text) onStep(text)
      await memory.fire(moment)
      pending.push(once('another replica fires these deadlines again', undefined, memory.fireAgain))
    },
  }
  const pending = steps.map((step): Pending => {
    const isEvent = !('request' in step || 'later' in step)
    // Each request has a group of its own, and so has each event if the order is fixed.
    if (!isEvent || isInOrder) group += 1
    const own = group
    if (!isEvent) group += 1
    if ('request' in step) return once(`${step.request.method} ${step.request.path}`, own, () => ask(step.request))
    if ('later' in step)
      return once(`${step.later} later`, own, async () => {
        memory.passTime(msOf(step.later))
        due = own + 1
      })
    const record =
      'value' in step ? step : recordOf(underKey(memory.topicOf(step.Name), step as ScenarioEvent & { Id: string }))
    return deliveries(record, nameOf(record), own)
  })
  const returned = new Set<string>()
  /** The last deadline of each key that has passed, because the log keeps their sequence. */
  const passed = new Map<string | undefined, Pending>()
  pending.unshift(firing)
  await memory.begin()
  for (;;) {
    for (const record of memory.published) {
      const text = Buffer.from(record.value).toString()
      if (returned.has(text) || !memory.handles(record.topic)) continue
      returned.add(text)
      const own = deliveries(record, `its own ${nameOf(record)}`)
      if (isPassed(record.topic)) {
        pending.unshift(Object.assign(own, { group: due, after: passed.get(record.key) }))
        passed.set(record.key, own)
      } else pending.push(own)
    }
    if (memory.isDue()) Object.assign(firing, { left: 1, hasHappened: false, group: due })
    const first = pending.reduce(
      (least, { hasHappened, group = least }) => (hasHappened ? least : Math.min(least, group)),
      Number.POSITIVE_INFINITY,
    )
    const possible = pending.filter(
      ({ left, group = 0, after }) => left > 0 && group <= first && (after?.hasHappened ?? true),
    )
    if (possible.length === 0) return answer
    const next = possible[possible.length === 1 ? 0 : choose(possible.length)] as Pending
    onStep(next.hasHappened ? `${next.name}, again` : next.name)
    next.left -= 1
    next.hasHappened = true
    await next.happen()
  }
}

function nameOf({ topic, value }: ScenarioRecord): string {
  try {
    const { Name, Id } = JSON.parse(Buffer.from(value ?? '').toString()) as { Name?: string; Id?: string }
    return `${Name ?? `a record on ${topic}`}${Id ? ` ${Id.slice(0, 8)}` : ''}`
  } catch {
    return `a record on ${topic}`
  }
}
