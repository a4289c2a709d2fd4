import { type StreamSettings, withAdmin } from '@orderflow/kafka-log'
import { createStreamCheck } from '@orderflow/service-kit/operations'
import { AclOperations, AclPermissionTypes, ResourcePatternTypes, ResourceTypes } from '@platformatic/kafka'
import { expect } from 'chai'
import { eventually } from '../../src/base/run-tool.ts'
import { localKafka } from '../../src/kafka/connection.ts'
import { kafkaMissing, untilNothingMissing } from '../../src/kafka/readiness.ts'
import type { Plan } from '../../src/processes/plan.ts'
import { runningStack } from '../../src/processes/running-stack.ts'
import { newGroup } from './broker.ts'

export function streamCheck(planned: () => Plan): void {
  describe('the check of a real stream', () => {
    let plan: Plan
    let mine: ReturnType<typeof newGroup>
    beforeEach(() => {
      plan = planned()
      mine = newGroup(plan)
    })

    /** Waits until the check returns an expected result. Results are cached, and a group needs time to change. */
    const comesToBe = (holds: (missing: string | undefined) => boolean, what: string) =>
      eventually(async () => holds(await mine.check()), what)

    it('reports a group without members until a member joins', async () => {
      const hasNoMembers = (missing = '') => missing.includes('has no members')
      expect(await mine.check()).to.satisfy(hasNoMembers)
      const consumer = await mine.consume()
      await comesToBe((missing) => missing === undefined, 'nothing, with a member')
      await consumer.close(true)
      await comesToBe(hasNoMembers, 'no members again')
    })

    it('checks only the broker for a service without consumed topics', async () => {
      const Brokers = localKafka(plan.ports.kafka).bootstrapBrokers.join(',')
      const brokerOnly = createStreamCheck({ Brokers, AuthType: 'none' } as StreamSettings, {
        group: undefined,
        reads: [],
        writes: [],
      })
      expect(await brokerOnly()).to.equal(undefined)
    })

    it('reports a broker that hangs, until this broker continues', async () => {
      const consumer = await mine.consume()
      const { kill } = runningStack(plan, false)
      await kill('kafka', 'SIGSTOP')
      try {
        // Only the check's deadline reports this text. Kafka's client would wait longer and report another one.
        expect(await mine.check()).to.equal('the broker does not answer in time')
      } finally {
        await kill('kafka', 'SIGCONT')
      }
      await comesToBe((missing) => missing === undefined, 'the broker is back')
      // The broker's own session has expired, so it must elect leaders again.
      await untilNothingMissing('Kafka', () => kafkaMissing(localKafka(plan.ports.kafka)))
      await consumer.close(true)
    })

    it('reports in plain text that the service may not describe its group, although the broker answers', async () => {
      const denial = {
        resourceType: ResourceTypes.GROUP,
        resourceName: mine.group,
        resourcePatternType: ResourcePatternTypes.LITERAL,
        principal: 'User:ANONYMOUS',
        host: '*',
        operation: AclOperations.ALL,
        permissionType: AclPermissionTypes.DENY,
      }
      await withAdmin(localKafka(plan.ports.kafka), (admin) => admin.createAcls({ creations: [denial] }))
      await comesToBe(
        (missing) => missing === `this user may not describe consumer group ${mine.group}`,
        'the group is denied',
      )
    })
  })
}
