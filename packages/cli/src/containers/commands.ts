import { writeSync } from 'node:fs'
import { groupMembers } from '../kafka/readiness.ts'
import { StackError } from '../lib/error.ts'
import { partitions, services } from '../lib/services.ts'
import { type LogOptions, logLines, paint, timed } from '../lib/terminal.ts'
import { compose, docker } from './docker.ts'
import { ensureEnvFile, type Project, readProject, recordObservers, recordStore } from './project.ts'
import { composeFiles, readReplicaCounts, removeAdditions, writeAdditions } from './replicas.ts'
import { dockerUp } from './up.ts'

/** Removes the containers; volumes, and so all data, stay. */
export async function dockerDown(): Promise<void> {
  // Of an earlier version it may lack variables, without which Compose does nothing.
  await ensureEnvFile()
  await compose(composeFiles(), ['down', '--remove-orphans'])
  recordObservers([])
}

/** Removes the volumes of a project without containers, and forgets which replicas and store were asked for. Returns what it removed. */
export async function dockerClean({ name, store }: Project): Promise<string[]> {
  removeAdditions()
  if (store !== 'mongodb') recordStore('mongodb')
  const label = `label=com.docker.compose.project=${name}`
  const volumes = (await docker('volume', 'ls', '--quiet', '--filter', label)).trim().split('\n').filter(Boolean)
  for (const volume of volumes) await docker('volume', 'rm', volume)
  return volumes
}

/** The end of the logs of these containers, and what follows until it is interrupted or nobody reads on. */
export async function dockerLogs(names: string[], { follow, signal }: LogOptions): Promise<void> {
  const args = ['logs', '--tail', String(logLines), ...(follow ? ['--follow'] : []), ...names]
  await compose(composeFiles(), args, signal).catch((error: StackError) => {
    if (error.code !== 'interrupted' && isRead()) throw error
  })
}

/** Whether our standard output has a reader still (make logs | head). */
function isRead(): boolean {
  try {
    writeSync(1, '\n')
    return true
  } catch {
    return false
  }
}

/**
 * `./orderflow scale`: runs a service `count` times, each with a sidecar of its own, and shows how they share the partitions.
 * @throws {StackError} `usage` for an unknown service or another number
 */
export async function dockerScale(service: string, times: string, signal: AbortSignal): Promise<void> {
  const count = /^[1-9]\d?$/.test(times) ? Number(times) : undefined
  const names = services.map(({ name }) => name)
  if (!names.includes(service) || !count) {
    throw new StackError('usage', `scale ${service} ${times}: SERVICE is ${names.join(' or ')}, N is 1 to 99`, {
      nextStep: `./orderflow scale ${names.at(-1)} 3`,
    })
  }
  const onProgress = timed()
  await writeAdditions({ ...readReplicaCounts(), [service]: count })
  const { kafka } = await dockerUp({ store: readProject()?.store ?? 'mongodb', onProgress, signal })
  const members = await groupMembers(kafka, [service])
  onProgress(paint('green', `${service}: runs ${count} times, members of its consumer group: ${members.size}`))
  if (count > partitions.containers) {
    onProgress(`warning: a topic has ${partitions.containers} partitions, so the others wait in reserve`)
  }
}
