import type { RunningStack } from '@orderflow/stack'
import { expect } from 'chai'
import type { Operator } from '../operator.ts'
import { effectOf, publish } from './effects.ts'
import { settled } from './settled.ts'
import type { TestedService } from './tested-services.ts'

/** The number of events that a spec publishes, in addition to the events of earlier specs. */
const eventCount = 5

/** Declares the specs of rebuilds. The store of each service is lost, and then rebuilt from the log. */
export function rebuilds(tested: TestedService[], running: () => RunningStack, operator: () => Operator): void {
  describe('a store that is lost and rebuilt', () => {
    for (const service of tested) {
      it(`contains the same documents as before, and events have the same effects: ${service.name}`, async () => {
        const documents = async () => await operator().documents(service.role)
        const events = Array.from({ length: eventCount }, () => service.subject.event())
        const effects = () => Promise.all(events.map((event) => effectOf(service, running(), event)))
        // biome-ignore lint/plugin/no-spread-arguments: five events
        await publish(running(), ...events)
        const [effectsBefore, documentsBefore] = [await effects(), await settled(running(), documents)]
        expect(documentsBefore).not.to.deep.equal({})
        await operator().loseStores(service.role)
        expect(await documents()).to.deep.equal({})
        await operator().rebuild(service.role)
        expect(await documents()).to.deep.equal(documentsBefore)
        expect(await effects()).to.deep.equal(effectsBefore)
      })
    }
  })
}
