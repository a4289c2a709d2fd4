import { setTimeout as delay } from 'node:timers/promises'
import type { SubjectEvent } from '@orderflow/service-kit/testing'
import { type RunningStack, sidecarOf } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { expect } from 'chai'
import { createProducer } from '../kafka.ts'
import { effectOf, expectAnnouncedOnce, listedIds, recordOf } from './effects.ts'
import type { TestedService } from './tested-services.ts'

/** Limits the number of events, because a kill of containers takes seconds, and the effect of each event is checked. */
const pauseMs = 10

/** Declares the specs of `kill -9`. All services, or all sidecars, are killed at once while events are published. */
export function kills(tested: TestedService[], running: () => RunningStack): void {
  if (tested.length === 0) return
  describe('all services', () => {
    const parts = { service: ({ name }: TestedService) => name, sidecar: sidecarOf }
    for (const [part, nameOf] of Object.entries(parts)) {
      it(`handles every event once when the ${part} of each service is killed during a stream of events`, async () => {
        const streams = tested.map((service) => startStream(service, running()))
        await Promise.all(streams.map((stream) => stream.untilTaken()))
        await Promise.all(tested.map((service) => running().kill(nameOf(service))))
        const events = await Promise.all(streams.map((stream) => stream.end()))
        await Promise.all(tested.map((service) => running().restart(nameOf(service))))
        for (const [index, service] of tested.entries()) await expectTakenOnce(service, running(), events[index] ?? [])
      })
    }
  })
}

async function expectTakenOnce(service: TestedService, stack: RunningStack, events: SubjectEvent[]): Promise<void> {
  const ids = new Set<string>()
  for (const event of events) {
    const effect = (await effectOf(service, stack, event)) as { id?: string }
    if (effect.id === undefined)
      throw new Error(`${service.name}/test/subject.ts: effectOf returns an effect without id`)
    ids.add(effect.id)
  }
  const listed = (await listedIds(service, stack)).filter((id) => ids.has(id))
  expect([ids.size, listed.length], service.name).to.deep.equal([events.length, events.length])
  await expectAnnouncedOnce(service, stack, events)
}

/** Publishes events until the caller calls `end`, which returns all of them. */
function startStream(service: TestedService, stack: RunningStack) {
  const events: SubjectEvent[] = []
  let isEnding = false
  async function publish(): Promise<void> {
    const producer = createProducer(stack.kafka)
    while (!isEnding) {
      const event = service.subject.event()
      await producer.send(recordOf(stack, event))
      events.push(event)
      await delay(pauseMs)
    }
    await producer.close()
  }
  const publishing = publish()
  return {
    async untilTaken(): Promise<void> {
      await effectOf(service, stack, await eventually(() => events[0], 'the first event'))
    },
    async end(): Promise<SubjectEvent[]> {
      isEnding = true
      await publishing
      return events
    },
  }
}
