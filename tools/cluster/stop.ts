import { existsSync, globSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CliError, localFolder, poll } from '@orderflow/stack/base'
import { isAlive } from '@orderflow/stack/internals'
import { cgroupName } from './node/configuration.ts'
import { disconnectHost } from './node/network.ts'
import { describeRun, isCurrent, type RunRecord, readRecord, removeRecord } from './run-record.ts'

export const runFolder = join(localFolder, 'cluster')

const endTimeoutMs = 120_000

/**
 * Stops the cluster of this checkout. If another checkout's run has ended without a stop, removes its remains. Returns false without a cluster.
 * @throws {CliError} `busy` if another checkout's cluster runs
 */
export async function stopCluster(): Promise<boolean> {
  const record = readRecord()
  if (!record) return false
  if (record.folder !== runFolder && isAlive(record.owner)) {
    throw new CliError('busy', `another checkout uses ${describeRun(record)}`, {
      nextStep: 'run make -C tools cluster-down in that checkout',
    })
  }
  await stopRun(record)
  return true
}

/** Ends the processes of a run, and removes its devices, cgroups and files except the logs. */
export async function stopRun(record: RunRecord): Promise<void> {
  if (!isCurrent(record)) return
  await disconnectHost()
  const { init } = record
  if (init && isAlive(init)) {
    // The kernel ends all other processes of the namespace with its first process.
    process.kill(init.pid, 'SIGKILL')
    const ended = await poll(() => !isAlive(init), { timeoutMs: endTimeoutMs })
    if (!ended) throw new CliError('still-running', `process ${init.pid} of the cluster survives SIGKILL`)
  }
  for (const root of cgroupRoots()) await removeCgroup(join(root, cgroupName))
  // Keeps a folder in which another program has created files.
  for (const folder of record.created.toReversed()) tryRemove(folder)
  rmSync(join(record.folder, 'data'), { recursive: true, force: true, maxRetries: 50 })
  removeRecord()
}

/** Removes a cgroup and its children. A cgroup stays busy until its last process has ended completely. */
async function removeCgroup(folder: string): Promise<void> {
  if (!existsSync(folder)) return
  const children = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  for (const { name } of children) await removeCgroup(join(folder, name))
  const removed = await poll(() => tryRemove(folder), { timeoutMs: 10_000 })
  if (!removed) throw new CliError('still-running', `the cgroup ${folder} still has processes`)
}

/** Returns false if the folder is in use or has content. */
function tryRemove(folder: string): boolean {
  try {
    rmdirSync(folder)
    return true
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? ''
    if (['EBUSY', 'ENOTEMPTY'].includes(code)) return false
    if (code === 'ENOENT') return true
    throw error
  }
}

/** Returns the roots of all hierarchies of cgroups. Version 2 has one hierarchy. */
export function cgroupRoots(): string[] {
  if (existsSync('/sys/fs/cgroup/cgroup.controllers')) return ['/sys/fs/cgroup']
  return globSync('/sys/fs/cgroup/*/cgroup.procs').map((file) => join(file, '..'))
}
