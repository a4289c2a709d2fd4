import type { Admin } from '@platformatic/kafka'
import { protocolErrors, requestOf } from './kafka-request.ts'

/** Kafka refuses this time-out to every user, but only after it has checked the user's rights. */
const invalidTimeoutMs = 0

/**
 * Returns whether Kafka lets this user begin a transaction; undefined when its answer says neither. No transaction is begun, and the broker
 * stores nothing: the request asks for a time-out that is invalid, and whose refusal comes after that of the right.
 * @throws what the client throws when no broker answers
 */
export async function mayBeginTransactions(admin: Admin): Promise<boolean | undefined> {
  const [transactionalId, producerId, epoch] = ['orderflow-may-i', -1n, -1]
  try {
    await requestOf(admin, 'InitProducerId', transactionalId, invalidTimeoutMs, producerId, epoch)
  } catch (error) {
    const names = protocolErrors(error)
    if (names.includes('TRANSACTIONAL_ID_AUTHORIZATION_FAILED')) return false
    if (names.includes('INVALID_TRANSACTION_TIMEOUT')) return true
    if (names.length === 0) throw error
  }
  return undefined
}
