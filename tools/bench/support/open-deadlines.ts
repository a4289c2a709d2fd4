import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createEnvelope, deadlines, deterministicId, orderEvents } from '@orderflow/envelope-schema'
import { entryOf } from '@orderflow/stack'
import { repository, runTool } from '@orderflow/stack/base'
import { type ProcessSpec, serviceMissing } from '@orderflow/stack/internals'
import { number } from '../report/findings.ts'
import { untilCaughtUp } from './backlog.ts'
import type { BenchStack } from './bench-stack.ts'
import { ledgerOf, requireComplete } from './ledger.ts'
import { distance, type OutsideEvent } from './stream.ts'

const { App: app } = JSON.parse(readFileSync(join(repository, 'order-service/appsettings.json'), 'utf8')) as {
  App: { Id: string; Name: string }
}

/** The time within which orders must be paid, in minutes. Reminders are due after half of it. */
const paymentWithin = 525_600
const reminderMs = (paymentWithin * 60_000) / 2

/** Returns order-service, whose orders expire after a year, and its sidecar. @param env further variables of the service */
export function orderSpecs({ specOf }: Pick<BenchStack, 'specOf'>, env: Record<string, string> = {}): ProcessSpec[] {
  const own = specOf('order-service')
  const program = join(repository, 'tools/bench/deadlines/order-service.ts')
  const args = ['--expose-gc', ...own.args.map((arg) => (arg.endsWith('src/main.ts') ? program : arg))]
  const settings = { Orders__PaymentWithin: String(paymentWithin), ...env }
  return [{ ...own, args, env: { ...own.env, ...settings } }, specOf('order-sidecar')]
}

/** Generates order-service's own events of orders, whose reminders are due at these times. The orders expire half a year later. */
function* openOrders(count: number, dueAt: (index: number) => number): Generator<OutsideEvent> {
  for (let index = 0; index < count; index += 1) {
    const key = randomUUID()
    const envelope = createEnvelope({
      app: { id: app.Id, name: app.Name },
      type: 'OrderCreated@1',
      id: deterministicId('event', key, 'OrderCreated'),
      creationDate: new Date(dueAt(index) - reminderMs),
      payload: { OrderId: key, CustomerName: 'Grace Hopper', CustomerTaxId: 'US-1', Total: 10 },
    })
    yield { key, value: Buffer.from(JSON.stringify(envelope)) }
  }
}

/**
 * Gives order-service so many orders while it is stopped: publishes their events, and rebuilds the store from them. Afterwards, the log is empty, so that
 * the service has no backlog. Returns the processes, which are stopped, the seconds of the rebuild, and the number of
 * events that the rebuild has published.
 */
export async function fill(
  stack: BenchStack,
  tell: (line: string) => void,
  count: number,
  dueAt: (index: number) => number,
): Promise<{ specs: ProcessSpec[]; seconds: number; published: number }> {
  const { stream } = stack
  const specs = orderSpecs(stack)
  stack.launch(specs.slice(1))
  tell(`adding ${number(count)} orders`)
  await stream.publish(orderEvents, openOrders(count, dueAt))
  const before = await endsOf(stack)
  const begunAt = performance.now()
  const args = [join(repository, 'order-service/src/operate.ts'), 'rebuild']
  await runTool(process.execPath, args, { cwd: repository, env: specs[0]?.env ?? {} })
  const seconds = (performance.now() - begunAt) / 1_000
  const after = await endsOf(stack)
  const published = distance(before.deadlines, after.deadlines) + distance(before.orderEvents, after.orderEvents)
  await stack.stop(specs.slice(1))
  await stream.empty(orderEvents)
  return { specs, seconds, published }
}

/** Counts the deadlines in the index of a SQLite store: all entries, and the different ones. */
export function countArmed(file: string): { entries: number; different: number } {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 })
  try {
    const seen = new Set<string>()
    let entries = 0
    const chunks = database.prepare("SELECT value, is_binary FROM state WHERE key LIKE '%||due/%/%/%'")
    for (const { value, is_binary } of chunks.iterate()) {
      const text = is_binary ? Buffer.from(String(value), 'base64').toString() : String(value)
      for (const entry of JSON.parse(text) as { key: string; name: string }[]) {
        entries += 1
        seen.add(`${entry.key} ${entry.name}`)
      }
    }
    return { entries, different: seen.size }
  } finally {
    database.close()
  }
}

/** Starts order-service, and waits until it is ready. */
export async function launch(stack: BenchStack, specs: ProcessSpec[]): Promise<void> {
  stack.launch(specs)
  const { http } = entryOf(stack.plan.ports.services, 'order-service')
  await stack.wait('order-service', specs, () => serviceMissing('order-service', http))
}

export const untilHandled = (stack: BenchStack, specs: ProcessSpec[]) =>
  untilCaughtUp(stack, specs, ['order-service', orderEvents], ['order-service', deadlines])

export interface Fired {
  /** Deadlines that passed per second, from the first to the last record. */
  fired: number
  /** Decisions per second, from the first passed deadline to the last decision. */
  decided: number
  /** The times of the first passed deadline and the last decision, in milliseconds since 1970. */
  firstAt: number
  lastAt: number
}

/** Waits until so many reminders have passed and are decided since these ends. @throws {Error} if one passes twice, or has two decisions */
export async function watchFiring(
  stack: BenchStack,
  specs: ProcessSpec[],
  count: number,
  before: Ends,
): Promise<Fired> {
  const { stream } = stack
  await stack.wait(`${number(count)} deadlines to pass`, specs, async () => {
    const passed = distance(before.deadlines, await stream.ends(deadlines))
    return passed < count ? `${passed} have passed` : undefined
  })
  await untilHandled(stack, specs)
  const passed = await stream.records(deadlines, before.deadlines)
  const decided = (await stream.records(orderEvents, before.orderEvents)).filter(({ value }) =>
    value.includes('"OrderReminded"'),
  )
  const keysOf = (records: { key: string }[]) => records.map(({ key }) => key)
  const ledger = requireComplete('reminders', ledgerOf(keysOf(passed), keysOf(decided)))
  if (ledger.expected !== count) throw new Error(`${ledger.expected} of ${count} deadlines have passed`)
  const times = passed.map(({ at }) => at).sort((a, b) => a - b)
  const [firstAt = Number.NaN, lastAt] = [times[0], decided.reduce((last, { at }) => Math.max(last, at), 0)]
  const rate = (until: number) => (1_000 * count) / (until - firstAt)
  return { fired: rate(times.at(-1) ?? Number.NaN), decided: rate(lastAt), firstAt, lastAt }
}

type Ends = Awaited<ReturnType<typeof endsOf>>
export const endsOf = async ({ stream }: BenchStack) => ({
  deadlines: await stream.ends(deadlines),
  orderEvents: await stream.ends(orderEvents),
})
