import { isUtf8 } from 'node:buffer'
import type { LogRecord } from '@orderflow/service-kit/log'

/** Headers whose values are ours, or made of hexadecimal digits: nothing in them is anybody's. */
const open =
  /^(traceparent|caused-at|replayed-(from|record)|replay-of(-record)?|replayed-as(-record)?|replay-edited|deadletter-(id|reason|app|topic|partition|offset|time|record|arrived|replay|cut))$/
const plainValue = /^[\w./:+-]{1,256}$/
const plainName = /^[\w.-]{1,64}$/

/** A record's headers for readers: those that the platform writes as they are, of others their names and how long they are. */
export function shownHeaders(headers: LogRecord['headers']): { name: string; value: string }[] {
  return headers.slice(0, 50).map(([name, value]) => {
    const text = isUtf8(name) ? name.toString() : ''
    const known = open.test(text) && isUtf8(value) ? value.toString() : ''
    return {
      name: plainName.test(text) ? text : `*** (${name.length} bytes)`,
      value: plainValue.test(known) ? known : `*** (${value.length} bytes)`,
    }
  })
}
