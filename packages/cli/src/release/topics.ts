import { transactionsWarning } from '../kafka/access.ts'
import { kafkaConnection } from '../kafka/connection.ts'
import { ensureTopics, topics } from '../kafka/topics.ts'
import { CliError } from '../lib/error.ts'
import { type Service, services } from '../lib/services.ts'
import { gatherConfigVars } from './gather.ts'
import type { Output } from './output.ts'

/**
 * `./orderflow release-topics`: creates the topics of all services that are missing on the stream that the config vars of `SERVICE`
 * say, or of the first service there is: they share one stream. Warns when publishers may begin transactions there.
 * @throws {CliError} `usage` naming a setting that is missing or wrong, `unreachable` when the brokers cannot be reached or refuse
 */
export async function createTopics(env: NodeJS.ProcessEnv, out: Output): Promise<void> {
  const { vars } = await gatherConfigVars(serviceWhoseStream(env.SERVICE), env, out)
  const connection = kafkaConnection(vars)
  try {
    for (const warning of await ensureTopics(connection, topics.containers)) out.complain(`warning: ${warning}`)
    const warning = await transactionsWarning(connection)
    if (warning) out.complain(`warning: ${warning}`)
  } catch (cause) {
    throw new CliError('unreachable', `the brokers of Stream__Brokers: ${reasonOf(cause)}`, {
      nextStep: 'check the settings of Stream, and that this machine may reach the brokers',
      cause,
    })
  }
  for (const { name, partitions } of topics.containers) out.print(`${name}: there, ${partitions} partitions`)
}

function serviceWhoseStream(folder: string | undefined): Service {
  const [first] = services
  const service = folder ? services.find((one) => one.name === folder) : first
  if (service) return service
  throw new CliError('usage', `SERVICE (${folder}) is not a service`, {
    nextStep: `one of ${services.map((one) => one.name).join(', ')}`,
  })
}

/** The client's errors say little; what is behind them says it. */
function reasonOf(error: unknown): string {
  const { errors, message, cause } = error as AggregateError
  const [inner] = errors ?? (cause ? [cause] : [])
  return inner ? reasonOf(inner) : message
}
