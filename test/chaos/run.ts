import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { topics } from '@orderflow/stack'
import { audit } from '../ledger/audit.ts'
import { type Book, openBook } from '../ledger/book.ts'
import { readApi } from '../ledger/read-api.ts'
import { readFiles } from '../ledger/read-files.ts'
import { readLog } from '../ledger/read-log.ts'
import { startHttpLoad } from '../load/http-load.ts'
import { approveUpTo, httpOrder } from '../load/orders.ts'
import { startOutsideLoad } from '../load/outside-load.ts'
import { createTally } from '../load/tally.ts'
import { readBacklog, settle } from './backlog.ts'
import type { Cluster } from './cluster.ts'
import { inflict } from './faults.ts'
import { createProbe } from './recovery.ts'
import { type FaultReport, isClean, makeReport, type Report } from './report.ts'
import { describeFault, type Step } from './schedule.ts'
import { openSite, type SiteOptions } from './site.ts'
import { type Death, supervise } from './supervisor.ts'

export interface ChaosOptions extends SiteOptions {
  seed: string
  /** Orders a second through HTTP, and as many again from outside. */
  rate: number
  /** No step begins later. */
  minutes: number
  /** What happens, given whether disks can be full here. */
  steps: (disks: boolean) => Iterable<Step>
}

/** The whole report as JSON, with all that is known of what was found. */
export const reportFile = (folder: string) => join(folder, 'report.json')

const consumers = Object.fromEntries(topics.map(({ name, consumerGroups }) => [name, consumerGroups]))
const warmUpMs = 3_000
/** After the load's end a client that is still refused gives up. */
const patienceMs = 120_000

/**
 * Runs the system under load and faults, and counts afterwards. What is wrong is in the report's findings; then the folder
 * keeps the ledger's book, the log and the stores.
 */
export async function runChaos(options: ChaosOptions): Promise<Report> {
  const { folder } = options
  const site = await openSite(options)
  const bookFile = join(folder, 'ledger.db')
  rmSync(bookFile, { force: true })
  const book = openBook(consumers, bookFile)
  try {
    const report = await breakAndCount(options, site, book)
    writeFileSync(reportFile(folder), `${JSON.stringify(report, undefined, 2)}\n`)
    book.close()
    const keep = !isClean(report)
    await site.close(keep)
    if (!keep) rmSync(bookFile)
    return report
  } catch (error) {
    await site.close(true)
    throw error
  }
}

async function breakAndCount(
  options: ChaosOptions,
  site: Awaited<ReturnType<typeof openSite>>,
  book: Book,
): Promise<Report> {
  const { seed, rate, minutes, onProgress } = options
  const { cluster, disks } = site
  const supervisor = supervise(cluster, ({ member, exit, at }) => {
    const isKnown = supervisor.deaths
      .slice(0, -1)
      .some((earlier) => earlier.member === member && isSoonAfter(earlier, at))
    if (!isKnown) onProgress(`${member} ended by itself (${exit}), and is started again until it stays`)
    if (member.includes('-service')) book.surprise(`${member} ended by itself: ${exit}`)
  })
  const tally = createTally()
  const probe = createProbe(cluster, book, seed)
  let overAt = Number.POSITIVE_INFINITY
  const isOver = () => Date.now() > overAt
  const startedAt = Date.now()
  const http = startHttpLoad((index) => httpOrder(seed, index), rate, {
    urls: cluster.urls.order,
    book,
    tally,
    keys: seed,
    isOver,
    patienceMs: 250,
  })
  const outside = startOutsideLoad(seed, rate, { kafka: cluster.kafka, book, paid: probe.paid, isOver })
  onProgress(`load: ${rate} orders/s through HTTP and ${rate}/s from outside`)

  await delay(warmUpMs)
  const faults: FaultReport[] = []
  for (const step of options.steps(disks !== undefined)) {
    if (Date.now() - startedAt > minutes * 60_000) break
    const what = step.faults.map(describeFault).join(', and ')
    onProgress(what)
    const deathsBefore = supervisor.deaths.length
    const beganAt = new Date()
    await inflict(step, { cluster, supervisor, disks })
    const since = performance.now()
    const behind = await behindNow(cluster)
    const recovery = await probe.measure(since)
    const deaths = countDeaths(supervisor.deaths.slice(deathsBefore))
    faults.push({ what, beganAt, behind, recovery, deaths })
    await delay(step.restMs)
  }

  const loadSeconds = (Date.now() - startedAt) / 1_000
  onProgress('load: ends, waiting for its last answers')
  overAt = Date.now() + patienceMs
  await Promise.all([http.end(), outside.end()])
  await cluster.ready()
  const behind = await settle(cluster.kafka, onProgress)
  await supervisor.stop()

  onProgress('ledger: reading the log, the services and their files')
  await readLog(cluster.kafka, book)
  const [orderUrl = '', paymentUrl = ''] = [cluster.urls.order[0], cluster.urls.payment[0]]
  await readApi({ orderUrl, paymentUrl }, book)
  await readFiles(cluster.stateFiles, book)
  const findings = audit(book, { views: ['api', 'file'], approveUpTo })
  const load = {
    seconds: loadSeconds,
    http: http.begun(),
    outside: outside.begun(),
    answers: tally.counts(),
    brokerFailures: outside.failures(),
  }
  return makeReport({ ...options, load, behind, faults }, book, findings)
}

const isSoonAfter = (earlier: Death, at: Date) => at.getTime() - earlier.at.getTime() < 30_000

function countDeaths(deaths: Death[]): string[] {
  const counts = Object.groupBy(deaths, ({ member, exit }) => `${member} (${exit})`)
  return Object.entries(counts).map(([death, list = []]) => (list.length > 1 ? `${list.length} x ${death}` : death))
}

/** Undefined while the broker does not answer. */
async function behindNow({ kafka }: Cluster): Promise<number | undefined> {
  return await readBacklog(kafka).then(
    ({ behind }) => behind,
    () => undefined,
  )
}
