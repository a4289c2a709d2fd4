import { createProducer } from '@orderflow/chaos/clients/kafka'
import type { SubjectEvent } from '@orderflow/service-kit/testing'
import { eventually, type RunningStack, sidecarOf } from '@orderflow/stack'
import { expect } from 'chai'
import type { TestedService } from '../../support/tested-services.ts'
import { expectAnnouncedOnce } from './announcements.ts'
import { effectOf, listedIds } from './effects.ts'

/** kill -9 in the middle of a stream of events. */
export function kills(service: TestedService, running: () => RunningStack): void {
  for (const name of [service.name, sidecarOf(service)]) {
    it(`takes every event, and none twice, when ${name} is killed in mid-stream`, async function () {
      this.timeout(180_000)
      const stream = startStream(service, running())
      const first = await eventually(() => stream.events[0], 'the first event')
      await effectOf(service, running(), first)
      await running().kill(name)
      const events = await stream.end()
      await running().restart(name)
      const ids = new Set<string>()
      for (const event of events) ids.add(((await effectOf(service, running(), event)) as { id: string }).id)
      const listed = (await listedIds(service, running())).filter((id) => ids.has(id))
      expect([ids.size, listed.length]).to.deep.equal([events.length, events.length])
      await expectAnnouncedOnce(service, running(), events)
    })
  }
}

/** Publishes one event after the other until `end`, which answers all of them. */
function startStream({ subject }: TestedService, { kafka }: RunningStack) {
  const events: SubjectEvent[] = []
  let isEnding = false
  async function publish(): Promise<void> {
    const producer = createProducer(kafka)
    while (!isEnding) {
      const event = subject.event()
      await producer.send({ topic: event.topic, key: event.key, value: JSON.stringify(event.envelope) })
      events.push(event)
    }
    await producer.close()
  }
  const publishing = publish()
  return {
    events,
    async end(): Promise<SubjectEvent[]> {
      isEnding = true
      await publishing
      return events
    },
  }
}
