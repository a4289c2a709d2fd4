import { expect } from 'chai'
import { eventually } from '../../src/base/run-tool.ts'
import { localKafka } from '../../src/kafka/connection.ts'
import type { Plan } from '../../src/processes/plan.ts'
import { runningStack } from '../../src/processes/running-stack.ts'
import { newGroup, startBroker } from './broker.ts'
import { send } from './send.ts'

export function killedBroker(planned: () => Plan): void {
  describe('a killed broker', () => {
    const record = { topic: 'paymentevents', key: 'k', value: Buffer.from('{"Name":"PaymentApproved"}') }
    const publish = () => send(localKafka(planned().ports.kafka), record)
    let first: Awaited<ReturnType<typeof publish>>
    let mine: ReturnType<typeof newGroup>
    let meanwhile: string | undefined

    before(async () => {
      first = await publish()
      mine = newGroup(planned())
      await runningStack(planned(), false).kill('kafka')
      meanwhile = await mine.check()
      await startBroker(planned())
    })

    it('starts again with all its earlier events', async () => {
      expect(await publish()).to.deep.equal({ ...first, offset: first.offset + 1n })
    })

    it('makes a service unready only until the broker is back', async () => {
      expect(meanwhile).to.equal('the broker does not answer')
      const consumer = await mine.consume()
      await eventually(async () => (await mine.check()) === undefined, 'the group is back')
      await consumer.close(true)
    })
  })
}
