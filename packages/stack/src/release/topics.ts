import { type Service, services } from '../application/services.ts'
import { CliError } from '../base/error.ts'
import { kafkaConnection } from '../kafka/connection.ts'
import { ensureTopics, topics } from '../kafka/topics.ts'
import { transactionsWarning } from '../kafka/transactions.ts'
import { gatherConfigVars } from './gather.ts'
import type { Output } from './output.ts'

/**
 * Runs `./orderflow release-topics`: creates missing topics of all services on the hosted stream. The stream's address is in the config vars of
 * `SERVICE`, by default in those of the first service.
 * @throws {CliError} `usage` with a missing or invalid setting, `unreachable` if the brokers do not answer or refuse access
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
      nextStep: 'check the settings of section Stream, and that this machine can reach the brokers',
      cause,
    })
  }
  for (const { name, partitions } of topics.containers) out.print(`${name}: exists with ${partitions} partitions`)
}

function serviceWhoseStream(folder: string | undefined): Service {
  const [first] = services
  const service = folder ? services.find((one) => one.name === folder) : first
  if (service) return service
  throw new CliError('usage', `SERVICE (${folder}) is not a service`, {
    nextStep: `use one of ${services.map((one) => one.name).join(', ')}`,
  })
}

/** Returns the innermost message, because the client's errors have few details. */
function reasonOf(error: unknown): string {
  const { errors, message, cause } = error as AggregateError
  const [inner] = errors ?? (cause ? [cause] : [])
  return inner ? reasonOf(inner) : message
}
