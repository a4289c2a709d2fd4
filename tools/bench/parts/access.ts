import { orderEvents } from '@orderflow/envelope-schema'
import { createApiKey } from '@orderflow/service-kit/api-keys'
import { startIssuer } from '@orderflow/service-kit/testing'
import { atLeast, atMost, type Findings, number } from '../report/findings.ts'
import { inTurn, type Part } from '../report/part.ts'
import { median, medianRatio } from '../report/statistics.ts'
import { beforeFolder } from '../support/before.ts'
import { withBenchStack } from '../support/bench-stack.ts'
import { untilCaughtUp } from '../support/caught-up.ts'
import { type Load, postOrders } from '../support/load.ts'
import { startOrderService } from '../support/programs.ts'
import { openStream } from '../support/stream.ts'

const connections = 256
const scope = 'orders:write'

/**
 * Each round starts new processes, because two processes of the same program differ by more than the cost of authentication. Another order-service
 * consumes the events. BEFORE=folder adds an older checkout.
 */
export const access: Part = {
  title: `POST /v1/orders with and without authentication, ${connections} connections`,

  measure: (run) =>
    withBenchStack(['kafka', 'order-service', 'order-sidecar'], run.tell, async (stack) => {
      const { rounds, seconds } = run.quick ? { rounds: 1, seconds: 2 } : { rounds: 7, seconds: 6 }
      const stream = openStream(stack.kafka)
      const issuer = await startIssuer()
      const { key, record } = createApiKey({ name: 'bench', scopes: [scope], tenant: '' }, new Date())
      const token = await issuer.token({ scope, exp: Math.floor(Date.now() / 1000) + 3_600 })
      const closed = { Auth__Mode: 'closed' }
      const ofKeys = { ...closed, Auth__ApiKeys: JSON.stringify([record]) }
      const ofTokens = { ...closed, Auth__Issuer: issuer.url, Auth__Audience: 'orderflow' }
      const old = beforeFolder()
      const contenders: { name: string; env: Record<string, string>; authorization?: string; root?: string }[] = [
        { name: 'none', env: {} },
        { name: 'a key', env: ofKeys, authorization: `Bearer ${key}` },
        { name: 'a token', env: ofTokens, authorization: `Bearer ${token}` },
        ...(old ? [{ name: 'none, older checkout', env: {}, root: old }] : []),
      ]

      const loads = await inTurn(run, contenders, rounds, async ({ name, env, authorization, root }) => {
        const { url, specs } = await startOrderService(stack, name.replaceAll(/\W+/g, '-'), env, root)
        await postOrders(url, { connections, authorization, seconds: Math.min(5, seconds) })
        await untilCaughtUp(stack, stream, [['order-service', orderEvents]], [stack.specOf('order-sidecar')])
        const load = await postOrders(url, { connections, authorization, seconds })
        await stack.stop(specs)
        return load
      })
      await Promise.all([stream.close(), issuer.stop()])
      return findings([...loads].map(([{ name }, samples]) => ({ name, samples })))
    }),
}

const perSecondOf = (samples: Load[] = []) => samples.map(({ perSecond }) => perSecond)

function findings(contenders: { name: string; samples: Load[] }[]): Findings {
  const [open] = contenders
  const summaries = contenders.map(({ name, samples }) => ({
    name,
    perSecond: median(samples.map(({ perSecond }) => perSecond)),
    ofAnybody: medianRatio(perSecondOf(samples), perSecondOf(open?.samples)),
    p99: median(samples.map(({ p99 }) => p99)),
    failed: samples.reduce((sum, { failed }) => sum + failed, 0),
    samples,
  }))
  const ratio = (wanted: string) => summaries.find(({ name }) => name === wanted)?.ofAnybody ?? Number.NaN
  return {
    tables: [
      {
        title:
          'Medians of the rounds; each ratio is the median of the ratios of single rounds; failed is the sum of all rounds',
        head: ['authentication', 'requests/s', 'ratio to none', 'p99 ms', 'failed'],
        rows: summaries.map(({ name, perSecond, ofAnybody, p99, failed }) => [
          name,
          number(perSecond),
          number(ofAnybody, 3),
          number(p99),
          number(failed),
        ]),
      },
    ],
    goals: [
      atLeast('requests/s, a key / none', ratio('a key'), 0.95, 3),
      atLeast('requests/s, a token / none', ratio('a token'), 0.95, 3),
      atMost(
        'requests that failed',
        summaries.reduce((sum, { failed }) => sum + failed, 0),
        0,
      ),
    ],
    figures: summaries,
  }
}
