import { homedir } from 'node:os'
import { join } from 'node:path'
import { CliError, repository, runTool } from '@orderflow/stack/base'
import { buildServiceImages, isAlive, type ProvisionOptions } from '@orderflow/stack/internals'
import { type Clients, createClients } from '../clients.ts'
import type { Cluster } from '../cluster.ts'
import { ensureArchives } from '../images/archives.ts'
import { applicationImages } from '../installation.ts'
import { importImages } from '../node/containerd.ts'
import { readRecord } from '../run-record.ts'
import { runFolder } from '../stop.ts'
import { linesOfCluster } from './exports.ts'

/** A cluster in which people try the application. */
export interface RunningCluster extends Clients, Pick<Cluster, 'loadImages'> {
  about: string
  /** The images of the application that `make up` does not load itself. */
  applicationImages: readonly string[]
  /** The lines of a shell with which programs reach the cluster. */
  exports: string[]
}

/**
 * Returns the cluster of this checkout, otherwise the current cluster of kind.
 * @param folder receives temporary files
 * @throws {CliError} `usage` without both clusters
 */
export async function findCluster(folder: string, options: ProvisionOptions): Promise<RunningCluster> {
  return clusterOfCheckout(options) ?? (await clusterOfKind(folder, options))
}

function clusterOfCheckout(options: ProvisionOptions): RunningCluster | undefined {
  const record = readRecord()
  const { init } = record ?? {}
  if (record?.folder !== runFolder || !init || !isAlive(init)) return undefined
  const data = join(runFolder, 'data')
  const kubeconfig = join(data, 'kubeconfig')
  return {
    ...createClients(data, kubeconfig),
    about: 'the cluster of make -C tools cluster',
    applicationImages,
    exports: linesOfCluster(kubeconfig),
    async loadImages(names) {
      await ensureArchives(names, options)
      // Only tests add nodes to the first one.
      await importImages(init, names)
    },
  }
}

/** @throws {CliError} `usage` if the current context of kubectl is not a cluster of kind */
export async function clusterOfKind(folder: string, { onProgress }: ProvisionOptions): Promise<RunningCluster> {
  const kubeconfig = process.env.KUBECONFIG ?? join(homedir(), '.kube/config')
  const clients = createClients(folder, kubeconfig, 'kubectl')
  const context = (await clients.kubectl('config', 'current-context').catch(() => '')).trim()
  const [, name] = /^kind-(.+)$/.exec(context) ?? []
  if (!name) {
    const current = context
      ? `the current context of kubectl is ${context}, not one of kind`
      : 'kubectl has no current context'
    throw new CliError('usage', `this checkout runs no cluster, and ${current}`, {
      nextStep: 'kind create cluster; or, as root on Debian or Ubuntu: make -C tools cluster',
    })
  }
  return {
    ...clients,
    about: `the cluster ${name} of kind`,
    applicationImages: [],
    exports: [],
    async loadImages(names) {
      // No registry has our own images. The nodes pull all others.
      const own = names.filter((image) => image.startsWith('localhost/'))
      await buildServiceImages(onProgress)
      await runTool('kind', ['load', 'docker-image', '--name', name, ...own], { cwd: repository })
    },
  }
}
