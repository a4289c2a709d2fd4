import { subscribe } from 'node:diagnostics_channel'
import type { EventEmitter } from 'node:events'

/**
 * Keeps the process alive when a connection of @platformatic/kafka is reset during a SASL login, for example while a broker starts. The
 * connection (2.12) then emits two errors, and the second has no listener. The first error still reaches the client.
 */
subscribe('plt:kafka:instances', (message) => {
  const { type, instance } = message as { type: string; instance: EventEmitter }
  if (type === 'connection') instance.on('error', () => {})
})
