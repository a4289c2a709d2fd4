import { ensureTopics, kafkaConnection, topics } from '@orderflow/stack'
import { ReleaseError } from '../lib/error.ts'
import type { Output } from '../lib/output.ts'
import { services } from '../settings/services.ts'
import { gatherConfigVars } from './gather.ts'

/**
 * `make release-topics`: creates the topics that are missing on the stream of order-service's config vars, which both
 * services share.
 * @throws {StackError} `usage` naming a setting that is missing or wrong
 * @throws {ReleaseError} `unreachable` when the brokers cannot be reached or refuse
 */
export async function createTopics(env: NodeJS.ProcessEnv, out: Output): Promise<void> {
  const { vars } = await gatherConfigVars(services.order, env, out)
  const connection = kafkaConnection(vars)
  try {
    for (const warning of await ensureTopics(connection)) out.complain(`warning: ${warning}`)
  } catch (cause) {
    throw new ReleaseError('unreachable', `the brokers of Stream__Brokers: ${reasonOf(cause)}`, {
      nextStep: 'check the settings of Stream, and that this machine may reach the brokers',
      cause,
    })
  }
  for (const { name, partitions } of topics) out.print(`${name}: there, ${partitions} partitions`)
}

/** The client's errors say little; what is behind them says it. */
function reasonOf(error: unknown): string {
  const { errors, message, cause } = error as AggregateError
  const [inner] = errors ?? (cause ? [cause] : [])
  return inner ? reasonOf(inner) : message
}
