import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Disk, mountDisk, unmountBelow } from '@orderflow/service-kit/testing'
import { claimFolder, hasDeadOwner, releaseFolder, stopStack } from '@orderflow/stack/internals'
import { type Cluster, type ClusterOptions, startCluster } from './cluster.ts'

export interface SiteOptions extends ClusterOptions {
  folder: string
  onProgress: (line: string) => void
}

export interface Site {
  cluster: Cluster
  /** Undefined if this user may not mount disks. */
  disks: { state: Disk; kafka: Disk } | undefined
  /** Stops everything. If `keep` is true, Kafka's log and the stores are copied to `kept/` next to the log files. */
  close(keep: boolean): Promise<void>
}

const dataFolders = ['data', 'state']

/** Starts a cluster in its own folder, on small disks if this user may mount them. */
export async function openSite({ folder, onProgress, ...options }: SiteOptions): Promise<Site> {
  for (const dead of [folder, ...beside(folder)].filter(hasDeadOwner)) unmountBelow(dead)
  await claimFolder(folder)
  for (const name of ['state', 'kept']) rmSync(join(folder, name), { recursive: true, force: true })

  mkdirSync(join(folder, 'state'))
  const disks = await mountDisks(folder, onProgress)
  async function close(keep: boolean): Promise<void> {
    await stopStack(folder, () => {})
    if (keep) keepData(folder)
    unmountBelow(folder)
    rmSync(join(folder, 'state'), { recursive: true, force: true })
    await releaseFolder(folder)
  }
  try {
    onProgress(
      `starting Kafka and the services with their sidecars (replicas: ${options.replicas}, store: ${options.store}, brokers: ${options.brokers})`,
    )
    const cluster = await startCluster(folder, options)
    if (!cluster.clocks)
      onProgress('warning: no clocks jump in this run, because libfaketime is missing: apt-get install libfaketime')
    return { cluster, disks, close }
  } catch (error) {
    await close(false)
    throw error
  }
}

async function mountDisks(folder: string, onProgress: SiteOptions['onProgress']): Promise<Site['disks']> {
  try {
    return { kafka: await mountDisk(join(folder, 'data')), state: await mountDisk(join(folder, 'state')) }
  } catch (error) {
    onProgress(`warning: no full disks in this run, because mounting failed: ${(error as Error).message}`)
    return undefined
  }
}

function beside(folder: string): string[] {
  const parent = dirname(folder)
  return existsSync(parent) ? readdirSync(parent).map((name) => join(parent, name)) : []
}

/** Copies the data to `kept/`, because a mounted disk loses its data when it is unmounted. */
function keepData(folder: string): void {
  for (const name of dataFolders.filter((name) => existsSync(join(folder, name)))) {
    cpSync(join(folder, name), join(folder, 'kept', name), { recursive: true })
  }
}
