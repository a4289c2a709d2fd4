import type { RunningStack } from '@orderflow/stack'
import { expect } from 'chai'
import type { Operator } from '../operator.ts'
import { badRequests } from './bad-requests.ts'
import { effectOf, expectAnnouncedOnce, publish, publishUnder } from './effects.ts'
import { poison } from './poison.ts'
import { reacting, type TestedService } from './tested-services.ts'

/** Declares the specs of one service. Only services that react to events get the specs of invalid records and duplicates. */
export function serviceSpecs(service: TestedService, running: () => RunningStack, operator: () => Operator): void {
  describe(service.name, () => {
    badRequests(service, running)
    if (reacting([service]).length === 0) return
    poison(service, running)
    duplicates(service, running, operator)
  })
}

/** These keys are enough to reach every partition. */
const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

export function duplicates(service: TestedService, running: () => RunningStack, operator: () => Operator): void {
  it('applies an event once and announces it with identical bytes, however often and under whatever key it arrives', async () => {
    const event = service.subject.event()
    await publish(running(), event)
    const effect = await effectOf(service, running(), event)
    const documents = await operator().documents(service.role)
    await publishUnder(running(), event, [event.key, event.key, undefined, ...keys])
    // In each partition, one of these events follows the copies.
    const behind = keys.map((key) => ({ key, event: service.subject.event() }))
    for (const { key, event } of behind) await publishUnder(running(), event, [key])
    for (const { event } of behind) await effectOf(service, running(), event)
    expect(await effectOf(service, running(), event)).to.deep.equal(effect)
    expect(await operator().documents(service.role)).to.deep.include(documents)
    await expectAnnouncedOnce(service, running(), [event, ...behind.map(({ event }) => event)])
  })
}
