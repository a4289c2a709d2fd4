import { isUtf8 } from 'node:buffer'
import { nestsTooDeep, notBlankPattern } from '@orderflow/envelope'
import { recordAt } from '@orderflow/kafka-log'
import { invalid, type Route, type ServiceContext } from '@orderflow/service-kit'
import type { Revealed } from '../api/actions.ts'
import type { Audit } from '../api/dead-letters.ts'
import { documentIn } from '../model/masked.ts'
import type { Monitor } from '../monitor.ts'
import { MonitorError } from '../monitor-error.ts'
import { answer, bodyInput, nameOf, positionInput } from './requests.ts'

const reasonSchema = { type: 'string', minLength: 3, maxLength: 200, pattern: notBlankPattern }
const visible = new RegExp(notBlankPattern, 'u')

const reasonInput = bodyInput(
  'RevealRequest',
  { reason: reasonSchema },
  ({ reason }) => {
    // Counts code points, as JSON Schema does.
    const length = typeof reason === 'string' ? [...reason].length : 0
    if (length >= reasonSchema.minLength && length <= reasonSchema.maxLength && visible.test(reason as string))
      return (reason as string).trim()
    throw invalid([{ pointer: '/reason', detail: 'must have 3 to 200 characters, because it is recorded' }])
  },
  ['reason'],
)

/**
 * Returns the routes for personal values and the audit log. Each view of personal values is recorded before the values
 * are read.
 */
export function revealRoutes({ index, ledger, log, now }: Monitor, serviceLog: ServiceContext['log']): Route[] {
  return [
    answer({
      method: 'post',
      path: '/v1/events/{topic}/{partition}/{offset}/reveal',
      scope: 'events:reveal',
      summary: "Reveal an event's personal values",
      input: { position: positionInput, reason: reasonInput },
      refusals: ['not-in-log'],
      async handle({ position, reason }, context): Promise<Revealed> {
        const by = nameOf(context)
        ledger.record({
          at: now().toISOString(),
          by,
          what: 'PersonalDataViewed',
          position,
          reason,
          as: null,
          edited: null,
        })
        serviceLog.warn({ position, by }, 'a caller views personal values')
        const record = await log.read((reader) => recordAt(reader, position))
        if (!record)
          throw new MonitorError('not-in-log', 'The log has no such record. It was deleted, or never existed.')
        const text = (bytes: Uint8Array) => (isUtf8(bytes) ? Buffer.from(bytes).toString() : null)
        const value = text(record.value)
        const document = value === null ? null : documentIn(value)
        return {
          document: nestsTooDeep(document) ? null : (document ?? null),
          text: value,
          key: record.key ? (text(record.key) ?? `0x${record.key.toString('hex')}`) : null,
          headers: record.headers.map(([name, bytes]) => ({
            name: name.toString(),
            value: text(bytes) ?? `0x${bytes.toString('hex')}`,
          })),
        }
      },
    }),
    answer({
      path: '/v1/audit',
      summary: 'List views of personal values, replays and fired deadlines',
      input: {},
      handle: (): Audit => ({ items: ledger.audit(200), complete: index.completeness() }),
    }),
  ]
}
