import { applicationName } from '../application/paths.ts'
import { print } from '../base/terminal.ts'
import { helm, kubectl, ownSelector, readRecord, releaseSelector, removeRecord } from './cluster.ts'

/** Uninstalls the application. Returns false if it is not installed. */
export async function down(onProgress: (line: string) => void): Promise<boolean> {
  const record = readRecord()
  if (!record) return false
  const releases = await helm(record, ['list', '--all', '--short', '--filter', `^${applicationName}$`])
  if (!releases.trim()) return false
  onProgress(`release ${applicationName}: uninstalling from ${record.context}, namespace ${record.namespace}`)
  await helm(record, ['uninstall', applicationName, '--cascade', 'foreground', '--wait', '--timeout', '5m'], {
    timeoutMs: 6 * 60_000,
  })
  // Helm keeps the objects of hooks.
  await kubectl(record, ['delete', 'jobs,networkpolicies', '--selector', releaseSelector, '--ignore-not-found'])
  onProgress('Secrets, topics and stores stay; ./orderflow clean removes the Secrets')
  return true
}

/** Workloads and volumes that are not ours. A namespace with any of them stays. */
const foreignKinds = 'deployments,statefulsets,daemonsets,jobs,cronjobs,pods,persistentvolumeclaims'

/** Removes the Secrets, and the namespace if `make up` has created it and nothing else uses it. Returns their names. */
export async function clean(): Promise<string[]> {
  const record = readRecord()
  if (!record) return []
  const { namespace } = record
  const removed = await kubectl(record, ['delete', 'secrets', '--selector', ownSelector, '--output', 'name'])
  const named = removed.split('\n').filter(Boolean)
  const own = await kubectl(record, ['get', 'namespaces', '--selector', ownSelector, '--output', 'name'])
  if (own.split('\n').includes(`namespace/${namespace}`)) {
    const others = (await kubectl(record, ['get', foreignKinds, '--output', 'name'])).split('\n').filter(Boolean)
    if (others.length > 0) print(`namespace ${namespace} stays, because it also has ${others.slice(0, 3).join(', ')}`)
    else {
      await kubectl(record, ['delete', 'namespace', namespace, '--wait=false'])
      named.push(`namespace/${namespace}`)
    }
  }
  removeRecord()
  return named
}
