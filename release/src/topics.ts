import { ensureTopics, kafkaConnection, topics } from '@orderflow/stack'
import { ReleaseError } from './error.ts'
import { requireConfigVars } from './gather.ts'
import type { Output } from './output.ts'
import { services } from './services.ts'

/**
 * `make release-topics`: creates the topics that are missing on the stream of order-service's config vars, which both
 * services share.
 * @throws {ReleaseError} `unreachable` when the brokers cannot be reached or refuse
 */
export async function createTopics(env: NodeJS.ProcessEnv, out: Output): Promise<void> {
  const vars = await requireConfigVars(services.order, env, out)
  try {
    for (const warning of await ensureTopics(kafkaConnection(vars))) out.complain(`warning: ${warning}`)
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
