import { mayBeginTransactions, withAdmin } from '@orderflow/kafka-log'
import { createStreamCheck } from '@orderflow/service-kit/operations'
import { expect } from 'chai'
import { entryOf } from '../../src/application/services.ts'
import { eventually } from '../../src/base/run-tool.ts'
import { localKafka } from '../../src/kafka/connection.ts'
import { kafkaMissing, untilNothingMissing } from '../../src/kafka/readiness.ts'
import { transactionDenial, transactionsWarning } from '../../src/kafka/transactions.ts'
import type { Plan } from '../../src/processes/plan.ts'
import { startProcess } from '../../src/processes/process/control.ts'
import { processSpecs } from '../../src/processes/process/spec.ts'
import { runningStack } from '../../src/processes/running-stack.ts'
import { startBroker } from './broker.ts'

export function transactions(planned: () => Plan): void {
  describe('Kafka’s rule about transactions', () => {
    const kafka = () => localKafka(planned().ports.kafka)
    const removeRule = async () => {
      const filters = [await transactionDenial()]
      await withAdmin(kafka(), (admin) => admin.deleteAcls({ filters }))
    }

    it('prevents warnings for operators and services', async () => {
      expect(await transactionsWarning(kafka())).to.equal(undefined)
      expect(await withAdmin(kafka(), mayBeginTransactions)).to.equal(false)
    })

    it('exists again after the next start of the stack, even if the log is from a version that had no such rule', async () => {
      await removeRule()
      await eventually(() => transactionsWarning(kafka()), 'the rule to be gone')
      await startBroker(planned())
      await eventually(async () => (await transactionsWarning(kafka())) === undefined, 'the rule to be back')
    })

    it('causes warnings for operators and services if it is missing; the checks create no topic', async () => {
      await removeRule()
      try {
        await eventually(() => transactionsWarning(kafka()), 'the rule to be gone')
        expect(await transactionsWarning(kafka())).to.match(/^no rule of Kafka denies transactions.*\.\/orderflow acls/)
        expect(await warningOfService(planned())).to.match(
          /^Kafka lets this service begin transactions.*\.\/orderflow acls/,
        )
        const topics = await withAdmin(kafka(), (admin) => admin.listTopics({ includeInternals: true }))
        expect(topics).to.include('orderevents').and.to.not.include('__transaction_state')
      } finally {
        await startBroker(planned())
      }
    })

    it('requires an authorizer; without one, operators and services get warnings', async () => {
      await runningStack(planned(), false).kill('kafka')
      const broker = entryOf(processSpecs(planned()), 'kafka')
      startProcess(planned().folder, { ...broker, args: [...broker.args, '--override', 'authorizer.class.name='] })
      await untilNothingMissing('Kafka', () => kafkaMissing(kafka()))
      expect(await transactionsWarning(kafka())).to.match(/^Kafka has no authorizer.*\.\/orderflow acls/)
      expect(await warningOfService(planned())).to.match(/^Kafka lets this service begin transactions/)
    })
  })
}

/** Runs the readiness check of a service. Returns the warning of this check, which may come after the result of the check. */
async function warningOfService({ ports }: Plan): Promise<string> {
  const warnings: string[] = []
  const Brokers = localKafka(ports.kafka).bootstrapBrokers.join()
  const settings = { Brokers, AuthType: 'none' } as Parameters<typeof createStreamCheck>[0]
  const use = { group: undefined, reads: ['orderevents'], writes: [] }
  const check = createStreamCheck(settings, use, { warn: (warning) => warnings.push(warning) })
  expect(await check()).to.equal(undefined)
  return await eventually(() => warnings[0], 'the warning')
}
