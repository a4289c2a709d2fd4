import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CliError, cacheFolder, poll } from '@orderflow/stack/base'
import { isAlive, type ProvisionOptions, self, withLock } from '@orderflow/stack/internals'

// One cluster can run at a time, because clusters share addresses, cgroups and folders of this machine. A file in the cache names the run.

interface ProcessId {
  pid: number
  startId: string
}

export interface RunRecord {
  /** The process that started the cluster. A cluster that continues after its command belongs to its own first process. */
  owner: ProcessId
  /** The folder of the run's files. */
  folder: string
  since: string
  /** The first process of the cluster, which ends all others. */
  init?: ProcessId
  /** Folders of this machine that the run has created, in this order. */
  created: string[]
}

const recordFile = () => join(cacheFolder(), 'cluster.json')

export function readRecord(): RunRecord | undefined {
  return existsSync(recordFile()) ? (JSON.parse(readFileSync(recordFile(), 'utf8')) as RunRecord) : undefined
}

function writeRecord(record: RunRecord): void {
  mkdirSync(cacheFolder(), { recursive: true })
  writeFileSync(recordFile(), JSON.stringify(record, null, 2))
}

/** Returns false if the run was stopped. The machine may then have the cluster of another run. */
export function isCurrent({ folder, since }: RunRecord): boolean {
  const running = readRecord()
  return running?.folder === folder && running.since === since
}

/** @throws {CliError} `interrupted` if another process has stopped the run */
export function updateRecord(record: RunRecord): void {
  if (!isCurrent(record)) throw new CliError('interrupted', 'the cluster was stopped while it started')
  writeRecord(record)
}

export const removeRecord = (): void => rmSync(recordFile(), { force: true })

interface ClaimOptions extends Pick<ProvisionOptions, 'onProgress' | 'signal'> {
  /** The longest wait for another run, in milliseconds. */
  timeoutMs: number
  /** Removes the rest of a run whose owner has ended. */
  cleanUp: (record: RunRecord) => Promise<void>
}

/**
 * Makes this process the owner of the machine's only cluster.
 * @throws {CliError} `busy` with the owner of the running cluster
 */
export async function claimCluster(folder: string, options: ClaimOptions): Promise<RunRecord> {
  const { timeoutMs, onProgress, signal, cleanUp } = options
  let waiting = false
  const claim = () =>
    withLock(join(cacheFolder(), 'cluster.lock'), { timeoutMs: 60_000, onWait: () => {} }, async () => {
      const running = readRecord()
      if (running && isAlive(running.owner)) {
        if (!waiting) onProgress(`waiting for ${describeRun(running)}`)
        waiting = true
        return undefined
      }
      if (running) await cleanUp(running)
      const record: RunRecord = { owner: self(), folder, since: new Date().toISOString(), created: [] }
      writeRecord(record)
      return record
    })
  const record = timeoutMs > 0 ? await poll(claim, { timeoutMs, everyMs: 1_000, signal }) : await claim()
  if (record) return record
  const running = readRecord()
  throw new CliError('busy', `this machine runs one cluster at a time: ${running && describeRun(running)}`, {
    nextStep: 'wait until it ends, or stop it: make -C tools cluster-down in its checkout',
  })
}

export const describeRun = ({ owner, folder, since }: RunRecord): string =>
  `the cluster of process ${owner.pid} in ${folder}, since ${since}`
