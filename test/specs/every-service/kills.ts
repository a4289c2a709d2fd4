import { setTimeout as delay } from 'node:timers/promises'
import type { SubjectEvent } from '@orderflow/service-kit/testing'
import { type RunningStack, sidecarOf } from '@orderflow/stack'
import { expect } from 'chai'
import type { TestedService } from '../../support/tested-services.ts'
import { expectAnnouncedOnce } from './announcements.ts'
import { effectOf, listedIds, publish } from './effects.ts'

const count = 60
/** Some of the events are on their way then, and some are yet to be published. */
const publishedBeforeMs = 50

/** kill -9 in the middle of a stream of events. */
export function kills(service: TestedService, running: () => RunningStack): void {
  for (const name of [service.name, sidecarOf(service)]) {
    it(`takes every event, and none twice, when ${name} is killed in mid-stream`, async function () {
      this.timeout(180_000)
      const events = Array.from({ length: count }, () => service.subject.event())
      const [first, ...others] = events as [SubjectEvent, ...SubjectEvent[]]
      await publish(running(), first)
      await effectOf(service, running(), first)
      const publishing = publish(running(), ...others)
      await delay(publishedBeforeMs)
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
