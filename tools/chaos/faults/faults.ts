import { setTimeout as delay } from 'node:timers/promises'
import type { Disk } from '@orderflow/service-kit/testing'
import { type Cluster, isServer } from '../cluster/cluster.ts'
import type { Link } from '../cluster/link.ts'
import type { Supervisor } from '../cluster/supervisor.ts'
import type { Fault, NetworkFault, Step } from './schedule.ts'

export interface Breakable {
  cluster: Cluster
  supervisor: Supervisor
  disks: { state: Disk; kafka: Disk } | undefined
}

/** Runs the faults of a step, and restarts the stopped processes. */
export async function inflict(step: Step, breakable: Breakable): Promise<void> {
  await Promise.all(
    step.faults.map(async (fault, index) => {
      await delay(index * step.apartMs)
      await inflictOne(fault, breakable)
    }),
  )
}

async function inflictOne(fault: Fault, { cluster, supervisor, disks }: Breakable): Promise<void> {
  switch (fault.kind) {
    case 'kill':
      return supervisor.without(fault.members, async () => {
        await Promise.all(fault.members.map((member) => cluster.signal(member, 'SIGKILL')))
        await delay(fault.ms)
        for (const member of fault.members) cluster.start(member)
      })
    case 'lose disk':
      return supervisor.without([fault.broker], async () => {
        // The stack survives the loss of one disk. If another broker still lacks records, the disk may have the only copy of them.
        await cluster.replicated()
        await cluster.signal(fault.broker, 'SIGKILL')
        await cluster.loseDisk(fault.broker)
        await delay(fault.ms)
        cluster.start(fault.broker)
        await cluster.replicated()
      })
    case 'freeze':
      await Promise.all(fault.members.map((member) => cluster.signal(member, 'SIGSTOP')))
      await delay(fault.ms)
      await Promise.all(fault.members.map((member) => cluster.signal(member, 'SIGCONT')))
      return
    case 'restart':
      return supervisor.without([fault.member], async () => {
        await cluster.end(fault.member)
        cluster.start(fault.member)
        await cluster.serversReady()
      })
    case 'lock':
      return cluster.store.lock(fault.store, fault.ms)
    case 'cut':
    case 'half-open':
    case 'slow':
    case 'cut off':
      return spoil(
        fault,
        fault.replicas.flatMap((replica) => cluster.network.links(replica, fault.server)),
      )
    case 'full disk':
      await disks?.[fault.disk].fill()
      await delay(fault.ms)
      await disks?.[fault.disk].relieve()
      return
    case 'clock':
      for (const member of fault.members) cluster.clocks?.set(member, fault.seconds)
      await delay(fault.ms)
      for (const member of fault.members) cluster.clocks?.set(member, 0)
      return
    case 'restart all':
      return restartAll(cluster, supervisor)
  }
}

/** For how long links work between two cuts, and for how long they refuse connections after a cut. */
const connectedMs = 250
const refusedMs = 50
const slowMs = 500

async function spoil({ kind, ms }: NetworkFault, links: Link[]): Promise<void> {
  const each = (change: (link: Link) => Promise<void>) => Promise.all(links.map(change))
  switch (kind) {
    case 'cut':
      // Repeats the cut, so that it also hits new connections and requests.
      for (let left = ms; left > 0; left -= refusedMs + connectedMs) {
        await each((link) => link.cut())
        await delay(refusedMs)
        await each((link) => link.open())
        await delay(connectedMs)
      }
      return
    case 'slow':
      await each((link) => link.setRoundTrip(slowMs))
      await delay(ms)
      await each((link) => link.setRoundTrip(0))
      return
    case 'half-open':
      await each((link) => link.hold())
      await delay(ms)
      // After a cut, the server no longer knows the connections that were held.
      await each((link) => link.cut())
      await each((link) => link.open())
      return
    case 'cut off':
      await each((link) => link.hold())
      await delay(ms)
      // The held data now arrives, and the other side handles it.
      await each((link) => link.open())
  }
}

/** Services and sidecars end first, and servers start first, as in `make down` and `make up`. */
async function restartAll(cluster: Cluster, supervisor: Supervisor): Promise<void> {
  const servers = cluster.members.filter(isServer)
  const others = cluster.members.filter((member) => !isServer(member))
  await supervisor.without(cluster.members, async () => {
    await Promise.all(others.map(cluster.end))
    await Promise.all(servers.map(cluster.end))
    servers.forEach(cluster.start)
    await cluster.serversReady()
    others.forEach(cluster.start)
  })
}
