import { protocolErrors } from '@orderflow/service-kit/kafka'
import { rootMessage } from '@orderflow/service-kit/operations'
import { CliError, poll } from '@orderflow/stack/base'
import { withAdmin } from '@orderflow/stack/operate'
import type { Side } from './settings.ts'

/** The longest time until a Kafka that has just started accepts connections. */
const startMs = 3_000

/**
 * Returns the topics of a log.
 * @throws {CliError} `settings` if Kafka refuses the user, `unreachable` if it does not answer
 */
export async function requireTopics({ kafka, file }: Side): Promise<string[]> {
  const { bootstrapBrokers, sasl } = kafka
  const where = `Kafka at ${bootstrapBrokers}`
  let failure = 'it does not answer'
  const listed = await poll(
    () =>
      withAdmin(kafka, (admin) => admin.listTopics()).catch((cause: Error) => {
        const [refusal] = protocolErrors(cause)
        if (refusal) {
          throw new CliError('settings', `${where} refuses user ${sasl?.username}: ${refusal}`, {
            nextStep: `correct the user, the password and the mechanism in ${file}`,
            cause,
          })
        }
        failure = rootMessage(cause)
        return undefined
      }),
    { timeoutMs: startMs, everyMs: 500 },
  )
  if (listed) return listed
  throw new CliError('unreachable', `${where} is not reachable: ${failure}`, {
    nextStep: `start this Kafka, or correct its address and certificate in ${file}`,
  })
}
