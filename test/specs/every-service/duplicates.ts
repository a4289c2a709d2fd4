import type { RunningStack } from '@orderflow/stack'
import { expect } from 'chai'
import type { TestedService } from '../../support/tested-services.ts'
import type { Operator } from '../rebuild.ts'
import { expectAnnouncedOnce } from './announcements.ts'
import { effectOf, publish, publishUnder } from './effects.ts'

/** Enough keys to meet every partition. */
const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

/** Events that come again. */
export function duplicates(service: TestedService, running: () => RunningStack, operator: () => Operator): void {
  it('is changed by an event once, and tells of it in the same bytes, however often it comes and under whatever key', async () => {
    const event = service.subject.event()
    await publish(running(), event)
    const effect = await effectOf(service, running(), event)
    const documents = await operator().documents(service.role)
    await publishUnder(running(), event, [event.key, event.key, undefined, ...keys])
    // One of these is behind the copies in each partition.
    const behind = keys.map((key) => ({ key, event: service.subject.event() }))
    for (const { key, event } of behind) await publishUnder(running(), event, [key])
    for (const { event } of behind) await effectOf(service, running(), event)
    expect(await effectOf(service, running(), event)).to.deep.equal(effect)
    expect(await operator().documents(service.role)).to.deep.include(documents)
    await expectAnnouncedOnce(service, running(), [event, ...behind.map(({ event }) => event)])
  })
}
