import '@orderflow/envelope/kafka-resets'
import type { Admin, AdminOptions } from '@platformatic/kafka'
import { type KafkaConnection, requireConnection, type StreamSettings } from './connection.ts'
import { createSharedConnection } from './shared-connection.ts'

type Options = Partial<Pick<AdminOptions, 'clientId' | 'connectTimeout' | 'timeout' | 'requestTimeout'>>

/**
 * Opens a client without retries: with them, it would also repeat permanent errors, such as a wrong password. Loads the client's modules on first
 * use, because they take 55 MB of memory and half a second.
 */
export async function openAdmin(kafka: KafkaConnection, options: Options = {}): Promise<Admin> {
  const { Admin } = await import('@platformatic/kafka')
  return new Admin({ clientId: 'orderflow', connectTimeout: 2_000, timeout: 5_000, ...options, ...kafka, retries: 0 })
}

/** Runs a function with a new connection, because the addresses of brokers can change. Does not wait until the connection is closed. */
export async function withAdmin<T>(
  kafka: KafkaConnection,
  work: (admin: Admin) => Promise<T>,
  options: Options = {},
): Promise<T> {
  const admin = await openAdmin(kafka, options)
  try {
    return await work(admin)
  } finally {
    void admin.close().catch(() => {})
  }
}

/** An unused connection is closed after this time, in milliseconds. Deliveries, and failed events of an outage, often follow each other sooner. */
const idleMs = 10_000

/**
 * Returns a function that runs others with a connection to Kafka, which concurrent and later calls share. It repeats them once if the open connection
 * failed, because it may have broken meanwhile.
 * @param options the time-outs should be short if a delivery or a failed event waits for the result
 */
export function createSharedAdmin(settings: StreamSettings, options: Options) {
  const shared = createSharedConnection(async () => openAdmin(requireConnection(settings), options), idleMs)
  return <T>(work: (admin: Admin) => Promise<T>): Promise<T> => {
    const ask = () => shared.use(work)
    return shared.isOpen() ? ask().catch(ask) : ask()
  }
}
