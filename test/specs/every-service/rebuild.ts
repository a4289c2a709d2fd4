import type { RunningStack } from '@orderflow/stack'
import { expect } from 'chai'
import { settled } from '../../support/settled.ts'
import type { TestedService } from '../../support/tested-services.ts'
import type { Operator } from '../rebuild.ts'
import { effectOf, publish } from './effects.ts'

/** A store that is lost. */
export function rebuild(service: TestedService, running: () => RunningStack, operator: () => Operator): void {
  const { role, subject } = service
  it('holds the very documents of before when its store was lost and is rebuilt', async function () {
    this.timeout(180_000)
    const event = subject.event()
    await publish(running(), event)
    const effect = await effectOf(service, running(), event)
    const documents = await settled(async () => await operator().documents(role))
    await operator().loseStores(role)
    expect(await operator().documents(role)).to.deep.equal({})
    await operator().rebuild(role)
    expect(await operator().documents(role)).to.deep.equal(documents)
    expect(await effectOf(service, running(), event)).to.deep.equal(effect)
  })
}
