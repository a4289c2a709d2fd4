import { type RunningStack, sidecarOf } from '@orderflow/stack'
import { expect } from 'chai'
import type { TestedService } from '../../support/tested-services.ts'
import { expectAnnouncedOnce } from './announcements.ts'
import { effectOf, listedIds, publish } from './effects.ts'

const count = 60

/** kill -9 in the middle of a stream of events. */
export function kills(service: TestedService, running: () => RunningStack): void {
  for (const name of [service.name, sidecarOf(service)]) {
    it(`takes every event, and none twice, when ${name} is killed in mid-stream`, async function () {
      this.timeout(180_000)
      const events = Array.from({ length: count }, () => service.subject.event())
      const publishing = (async () => {
        for (const event of events) await publish(running(), event)
      })()
      await effectOf(service, running(), events[0] as (typeof events)[0])
      await running().kill(name)
      await publishing
      await running().restart(name)
      const effects = await Promise.all(events.map((event) => effectOf(service, running(), event)))
      const ids = new Set(effects.map((effect) => (effect as { id: string }).id))
      const listed = (await listedIds(service, running())).filter((id) => ids.has(id))
      expect([ids.size, listed.length]).to.deep.equal([count, count])
      await expectAnnouncedOnce(service, running(), events)
    })
  }
}
