import { subscribe } from 'node:diagnostics_channel'
import type { EventEmitter } from 'node:events'

/**
 * Imported wherever clients of @platformatic/kafka are made. Its connection (2.12) tells twice of a reset that comes while it logs
 * in with SASL, and by the second time nobody listens: Node ends the process. A published port of a container whose broker is
 * starting resets connections like that. The client's own error is not touched: it comes with the first.
 */
subscribe('plt:kafka:instances', (message) => {
  const { type, instance } = message as { type: string; instance: EventEmitter }
  if (type === 'connection') instance.on('error', () => {})
})
