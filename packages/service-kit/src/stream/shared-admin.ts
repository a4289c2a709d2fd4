import type { Admin, AdminOptions } from '@platformatic/kafka'
import { connectionOf, type StreamSettings } from './kafka.ts'
import { createSharedConnection } from './shared-connection.ts'

/** An unused connection is closed after this time, in milliseconds. Deliveries, and failed events of an outage, often follow each other sooner. */
const idleMs = 10_000

/** Runs a function with a connection to Kafka that concurrent and later calls share. Repeats it once if the open connection failed, because it may have broken meanwhile. */
type UseAdmin = <T>(work: (admin: Admin) => Promise<T>) => Promise<T>

/** Returns undefined if the settings name no broker. */
export function createSharedAdmin(
  settings: StreamSettings,
  options: Omit<AdminOptions, 'bootstrapBrokers'>,
): UseAdmin | undefined {
  const connection = connectionOf(settings)
  if (!connection) return undefined
  const shared = createSharedConnection(async (): Promise<Admin> => {
    const { Admin } = await import('@platformatic/kafka')
    return new Admin({ ...options, ...connection })
  }, idleMs)
  return (work) => {
    const ask = () => shared.use(work)
    return shared.isOpen() ? ask().catch(ask) : ask()
  }
}
