import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster, Member } from './cluster.ts'

/** The unexpected end of a process. */
export interface Death {
  member: Member
  exit: string
  at: Date
}

/** Restarts processes that end unexpectedly, as any platform does. */
export interface Supervisor {
  deaths: Death[]
  /** Ignores these members during `work`, which stops and starts them. */
  without(members: readonly Member[], work: () => Promise<void>): Promise<void>
  stop(): Promise<void>
}

const periodMs = 500

/** A process that exits again and again is reported only once within this time. */
const newsMs = 30_000

/** @param onDeath `isNews` is false if the same process ended shortly before */
export function supervise(cluster: Cluster, onDeath: (death: Death, isNews: boolean) => void): Supervisor {
  const deaths: Death[] = []
  const left = new Map<Member, number>()
  const leave = (members: readonly Member[], change: number) => {
    for (const member of members) left.set(member, (left.get(member) ?? 0) + change)
  }
  let isStopping = false

  function look(): void {
    for (const [member, exit] of cluster.ended()) {
      if (left.get(member)) continue
      const death = { member, exit, at: new Date() }
      const last = deaths.findLast((earlier) => earlier.member === member)
      deaths.push(death)
      onDeath(death, !last || death.at.getTime() - last.at.getTime() > newsMs)
      cluster.start(member)
    }
  }

  async function watch(): Promise<void> {
    while (!isStopping) {
      look()
      await delay(periodMs)
    }
  }
  const watching = watch()

  return {
    deaths,
    async without(members, work) {
      leave(members, 1)
      try {
        await work()
      } finally {
        leave(members, -1)
      }
    },
    async stop() {
      isStopping = true
      await watching
    },
  }
}
