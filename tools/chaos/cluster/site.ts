import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { claimFolder, hasDeadOwner, type LocalStore, releaseFolder, stopStack } from '@orderflow/cli'
import { type Disk, mountDisk, unmountBelow } from '@orderflow/service-kit/testing'
import { type Cluster, startCluster } from './cluster.ts'

export interface SiteOptions {
  folder: string
  /** Of each service with its sidecar: 1 or 2. */
  replicas: number
  store: LocalStore
  onProgress: (line: string) => void
}

export interface Site {
  cluster: Cluster
  /** Undefined where this user may not mount any. */
  disks: { state: Disk; kafka: Disk } | undefined
  /** Stops everything; `keep` leaves log and stores in `kept/` beside the logs. */
  close(keep: boolean): Promise<void>
}

const dataFolders = ['data', 'state']

/** A running cluster in a folder of its own, on small disks of its own where that is allowed. */
export async function openSite({ folder, replicas, store, onProgress }: SiteOptions): Promise<Site> {
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
    onProgress(`starting Kafka and ${replicas} of each service with its sidecar, store ${store}`)
    return { cluster: await startCluster(folder, replicas, store), disks, close }
  } catch (error) {
    await close(false)
    throw error
  }
}

async function mountDisks(folder: string, onProgress: SiteOptions['onProgress']): Promise<Site['disks']> {
  try {
    return { kafka: await mountDisk(join(folder, 'data')), state: await mountDisk(join(folder, 'state')) }
  } catch (error) {
    onProgress(`warning: without full disks, since none can be mounted here: ${(error as Error).message}`)
    return undefined
  }
}

function beside(folder: string): string[] {
  const parent = dirname(folder)
  return existsSync(parent) ? readdirSync(parent).map((name) => join(parent, name)) : []
}

/** A mount's data is gone with it, and a folder's with the next run's claim. */
function keepData(folder: string): void {
  for (const name of dataFolders.filter((name) => existsSync(join(folder, name)))) {
    cpSync(join(folder, name), join(folder, 'kept', name), { recursive: true })
  }
}
