import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { entryOf } from '@orderflow/stack'
import type { Cluster } from './cluster.ts'
import type { Disk } from './disks.ts'
import type { Fault, Step } from './schedule.ts'
import type { Supervisor } from './supervisor.ts'

export interface Breakable {
  cluster: Cluster
  supervisor: Supervisor
  disks: { state: Disk; kafka: Disk } | undefined
}

/** Does all faults of a step; returns when the last one has ended and what it stopped is started again. */
export async function inflict(step: Step, breakable: Breakable): Promise<void> {
  const [first, second] = step.faults
  await Promise.all([
    inflictOne(first, breakable),
    second && delay(step.apartMs).then(() => inflictOne(second, breakable)),
  ])
}

async function inflictOne(fault: Fault, { cluster, supervisor, disks }: Breakable): Promise<void> {
  switch (fault.kind) {
    case 'kill':
      return supervisor.without(fault.members, async () => {
        await Promise.all(fault.members.map((member) => cluster.signal(member, 'SIGKILL')))
        await delay(fault.ms)
        for (const member of fault.members) cluster.start(member)
      })
    case 'freeze':
      await Promise.all(fault.members.map((member) => cluster.signal(member, 'SIGSTOP')))
      await delay(fault.ms)
      await Promise.all(fault.members.map((member) => cluster.signal(member, 'SIGCONT')))
      return
    case 'lock':
      return holdLock(entryOf(cluster.stateFiles, fault.store), fault.ms)
    case 'full disk':
      await disks?.[fault.disk].fill()
      await delay(fault.ms)
      await disks?.[fault.disk].relieve()
      return
    case 'restart all':
      return restartAll(cluster, supervisor)
  }
}

/** Holds a database as a backup or a curious administrator may: no other connection can write meanwhile. */
async function holdLock(file: string, ms: number): Promise<void> {
  const db = new DatabaseSync(file, { timeout: 0 })
  try {
    while (!tryLock(db)) await delay(1)
    await delay(ms)
    db.exec('ROLLBACK')
  } finally {
    db.close()
  }
}

function tryLock(db: DatabaseSync): boolean {
  try {
    db.exec('BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    if (/locked|busy/.test((error as Error).message)) return false
    throw error
  }
}

/** As `make down` and `make up` do: services and sidecars end first, Kafka starts first. */
async function restartAll(cluster: Cluster, supervisor: Supervisor): Promise<void> {
  const others = cluster.members.filter((member) => member !== 'kafka')
  await supervisor.without(cluster.members, async () => {
    await Promise.all(others.map((member) => cluster.signal(member, 'SIGTERM')))
    await cluster.signal('kafka', 'SIGTERM')
    cluster.start('kafka')
    await cluster.kafkaReady()
    for (const member of others) cluster.start(member)
  })
}
