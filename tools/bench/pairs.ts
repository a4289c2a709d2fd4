/**
 * `make -C tools bench-pairs BEFORE=folder` compares this checkout with an older one, in turn. Each measurement gets a stack of its own, because
 * releases store different documents.
 */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { orderEvents as input, paymentEvents } from '@orderflow/envelope-schema'
import { entryOf } from '@orderflow/stack'
import { CliError, reportError, repository, timed } from '@orderflow/stack/base'
import { type ProcessName, serviceMissing } from '@orderflow/stack/internals'
import { environment } from './report/environment.ts'
import { number } from './report/findings.ts'
import { markdownTable } from './report/markdown.ts'
import { describeEnvironment } from './report/results.ts'
import { median, medianRatio } from './report/statistics.ts'
import { answerBacklog, untilAnswered, untilCaughtUp } from './support/backlog.ts'
import { stores, withBenchStack } from './support/bench-stack.ts'
import { orderEvents } from './support/events.ts'
import { postOrders } from './support/load.ts'
import { watchMemory } from './support/process-use.ts'
import { saysYes } from './support/says-yes.ts'

const connections = 256
const tell = timed()

interface Sample {
  /** Outside events per second that payment-service pays. */
  paid: number
  /** POSTs per second, without payment-service. */
  posted: number
  /** Orders per second, from the first POST until order-service has handled the last payment. */
  looped: number
  /** The largest resident memory of both services in MiB, during all loads. */
  memory: number
}

/**
 * Returns the folder of the older checkout (BEFORE=folder).
 * @throws {CliError} `usage` if it is not a checkout with installed packages
 */
function beforeFolder(): string {
  const { BEFORE = '' } = process.env
  const folder = resolve(repository, BEFORE)
  if (BEFORE && existsSync(join(folder, 'node_modules')) && existsSync(join(folder, 'payment-service/src/main.ts')))
    return folder
  throw new CliError('usage', `BEFORE=${BEFORE} is not a checkout with installed packages`, {
    nextStep: 'git clone . FOLDER, run git checkout COMMIT and packages/cli/node -v in it, and set BEFORE=FOLDER',
  })
}

/** Measures a checkout in a new stack. */
function measure(root: string, parts: ProcessName[], quick: boolean): Promise<Sample> {
  const size = quick ? { warmUp: 500, events: 2_000, seconds: 2 } : { warmUp: 5_000, events: 30_000, seconds: 8 }
  return withBenchStack(
    parts,
    () => {},
    async (stack) => {
      const own = `${repository}/`
      const specs = (...names: string[]) =>
        names.map(stack.specOf).map((spec) => {
          const args = spec.args.map((arg) => (arg.startsWith(own) ? join(root, arg.slice(own.length)) : arg))
          return { ...spec, args }
        })
      const [orders, payments] = [specs('order-service', 'order-sidecar'), specs('payment-service', 'payment-sidecar')]
      stack.launch(payments)
      await answerBacklog(stack, payments, orderEvents(size.warmUp))
      const paid = await answerBacklog(stack, payments, orderEvents(size.events))
      await stack.stop(payments)

      stack.launch(orders)
      const { http } = entryOf(stack.plan.ports.services, 'order-service')
      await stack.wait('order-service', orders, () => serviceMissing('order-service', http))
      await postOrders(stack.ordersUrl, { connections, seconds: size.seconds })
      await untilCaughtUp(stack, orders, ['order-service', input])
      const { perSecond: posted } = await postOrders(stack.ordersUrl, { connections, seconds: size.seconds })

      stack.launch(payments)
      const all = [...orders, ...payments]
      const untilHandled = () => untilCaughtUp(stack, all, ['payment-service', input], ['order-service', paymentEvents])
      await untilHandled()
      const memory = watchMemory(stack.plan.folder)
      const before = await stack.stream.ends(paymentEvents)
      const load = await postOrders(stack.ordersUrl, { connections, amount: size.events })
      await untilAnswered(stack, all, before, load.answered)
      await untilHandled()
      const looped = (1_000 * load.answered) / (Date.now() - load.startedAt)
      const peaks = memory()
      await stack.stop(all)
      const bytes = (peaks['order-service'] ?? Number.NaN) + (peaks['payment-service'] ?? Number.NaN)
      return { paid, posted, looped, memory: bytes / 2 ** 20 }
    },
  )
}

try {
  const [old, quick] = [beforeFolder(), saysYes(process.env, 'QUICK')]
  const conditions = environment(new Date())
  const rows: string[][] = []
  for (const [store, parts] of stores) {
    const [before, now]: [Sample[], Sample[]] = [[], []]
    for (let round = 1; round <= (quick ? 1 : 3); round += 1) {
      before.push(await measure(old, parts, quick))
      now.push(await measure(repository, parts, quick))
      tell(`${store}, round ${round}: ${JSON.stringify([before.at(-1), now.at(-1)])}`)
    }
    for (const figure of ['paid', 'posted', 'looped', 'memory'] as const) {
      const [old, own] = [before, now].map((samples) => samples.map((sample) => sample[figure])) as [number[], number[]]
      rows.push([store, figure, number(median(old)), number(median(own)), number(medianRatio(own, old), 3)])
    }
  }
  const head = ['store', 'figure', 'before', 'now', 'ratio']
  console.log(`\n${markdownTable({ head, rows })}\n\n${describeEnvironment({ environment: conditions, quick })}`)
} catch (error) {
  reportError(error)
}
