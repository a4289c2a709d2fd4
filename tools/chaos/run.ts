import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { entryOf, storedServices } from '@orderflow/stack'
import { topics } from '@orderflow/stack/operate'
import { type BreakOptions, breakIt } from './break-it.ts'
import { isReplicaOf } from './cluster/cluster.ts'
import { openSite, type SiteOptions } from './cluster/site.ts'
import { supervise } from './cluster/supervisor.ts'
import { settle } from './faults/backlog.ts'
import { audit } from './ledger/audit.ts'
import { openBook } from './ledger/book.ts'
import { countExpiries, lateMs } from './ledger/expiries.ts'
import { readApi } from './ledger/read-api.ts'
import { readLog } from './ledger/read-log.ts'
import { readStores, storedPrefixes } from './ledger/read-stores.ts'
import { approveUpTo } from './load/orders.ts'
import { isClean, makeReport, type Report, thisMachine } from './report/report.ts'

export type ChaosOptions = SiteOptions & BreakOptions

export const reportFile = (folder: string) => join(folder, 'report.json')

const consumers = Object.fromEntries(topics.processes.map(({ name, consumerGroups }) => [name, consumerGroups]))

/** Runs and audits the system under load and faults. If there are findings, the ledger, the log and the stores stay in the folder. */
export async function runChaos(options: ChaosOptions): Promise<Report> {
  const { folder, onProgress } = options
  const machine = thisMachine()
  const site = await openSite(options)
  const { cluster } = site
  const bookFile = join(folder, 'ledger.db')
  rmSync(bookFile, { force: true })
  const book = openBook(consumers, bookFile)
  const supervisor = supervise(cluster, ({ member, exit }, isNews) => {
    if (isNews) onProgress(`${member} exited unexpectedly (${exit}), and is restarted until it stays up`)
    if (storedServices.some(({ name }) => isReplicaOf(member, name)))
      book.surprise(`${member} exited unexpectedly: ${exit}`)
  })

  async function count(): Promise<Report> {
    const { calmAt, ...broken } = await breakIt(options, { ...site, supervisor, book })
    await cluster.ready()
    const behind = await settle(cluster.kafka, onProgress)
    const auditedAt = Date.now()
    onProgress('ledger: reading the log')
    await readLog(cluster.kafka, book)
    onProgress('ledger: reading the lists of the services page by page')
    await readApi((service) => entryOf(cluster.urls, service)[0] ?? '', book)
    onProgress('ledger: reading the services’ stores')
    const stored = Object.entries(storedPrefixes).map(([service, prefix]) => {
      return [service, cluster.store.documents(service, prefix)] as const
    })
    await readStores(Object.fromEntries(stored), book)
    const expiry = { withinMs: options.paymentWithinMs, lateMs, calmAt, auditedAt }
    const findings = audit(book, { views: ['api', 'store'], approveUpTo, expiry })
    const expiries = countExpiries(book, expiry)
    return makeReport({ ...options, ...broken, machine, behind, expiries }, book, findings)
  }

  let isKept = true
  try {
    const report = await count()
    writeFileSync(reportFile(folder), `${JSON.stringify(report, undefined, 2)}\n`)
    isKept = !isClean(report)
    return report
  } finally {
    await supervisor.stop()
    book.close()
    await site.close(isKept)
    if (!isKept) rmSync(bookFile)
  }
}
