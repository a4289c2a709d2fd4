import { subscribe } from 'node:diagnostics_channel'
import type { EventEmitter } from 'node:events'

/**
 * Keeps the process alive when a connection of @platformatic/kafka is reset twice. Import it wherever its clients are used.
 *
 * If a reset comes during a SASL login, the connection (2.12) emits two errors. The second has no listener, so Node would end the process.
 * Such resets happen while a broker in a container starts. The first error still reaches the client.
 */
subscribe('plt:kafka:instances', (message) => {
  const { type, instance } = message as { type: string; instance: EventEmitter }
  if (type === 'connection') instance.on('error', () => {})
})
