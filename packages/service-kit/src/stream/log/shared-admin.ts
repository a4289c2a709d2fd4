import type { Admin, AdminOptions } from '@platformatic/kafka'
import { timeLimit } from '../../limits.ts'
import { connectionOf, type StreamSettings } from './kafka.ts'
import { createSharedConnection } from './shared-connection.ts'

/** An unused connection is closed after this time, in milliseconds. Deliveries, and failed events of an outage, often follow each other sooner. */
const idleMs = 10_000

/** Runs a function with a connection to Kafka that concurrent and later calls share. Repeats it once if the open connection failed, because it may have broken meanwhile. */
type UseAdmin = <T>(work: (admin: Admin) => Promise<T>) => Promise<T>

/** The time-outs should be short, because a delivery or a failed event waits for the result. */
export function createSharedAdmin(settings: StreamSettings, clientId: string, timeoutMs: number): UseAdmin {
  const limits = { connectTimeout: timeLimit(1_000), timeout: timeLimit(timeoutMs), requestTimeout: timeLimit(30_000) }
  const shared = createSharedConnection(() => openAdmin(settings, { clientId, ...limits }), idleMs)
  return (work) => {
    const ask = () => shared.use(work)
    return shared.isOpen() ? ask().catch(ask) : ask()
  }
}

/**
 * Runs a function with a new connection, because the addresses of brokers can change. Does not wait until the connection is closed.
 * @throws {Error} if the settings name no broker
 */
export async function withAdmin<T>(
  settings: StreamSettings,
  options: { clientId: string; requestTimeout: number },
  work: (admin: Admin) => Promise<T>,
): Promise<T> {
  const admin = await openAdmin(settings, { ...options, connectTimeout: 1_000, timeout: 3_000 })
  try {
    return await work(admin)
  } finally {
    void admin.close().catch(() => {})
  }
}

/** @throws {Error} if the settings name no broker */
async function openAdmin(settings: StreamSettings, options: Omit<AdminOptions, 'bootstrapBrokers'>): Promise<Admin> {
  const connection = connectionOf(settings)
  if (!connection) throw new Error('no broker is configured: set Stream__Brokers')
  const { Admin } = await import('@platformatic/kafka')
  return new Admin({ ...options, ...connection, retries: 0 })
}
