import { recordAt } from '@orderflow/kafka-log'
import { type Context, HttpProblem, type Route } from '@orderflow/service-kit'
import { readEvent } from '@orderflow/service-kit/log'
import type { Fixture } from '../api/actions.ts'
import type { RecordPosition } from '../api/events.ts'
import { fixtureOf, type Rejection } from '../model/fixture.ts'
import type { Monitor } from '../monitor.ts'
import { MonitorError } from '../monitor-error.ts'
import { lost } from './edited.ts'
import { notKept } from './events.ts'
import { answer, nameOf, positionInput } from './requests.ts'

export function fixtureRoutes(monitor: Monitor): Route[] {
  return [
    answer({
      path: '/v1/events/{topic}/{partition}/{offset}/fixture',
      summary: 'Get an event as a fixture',
      description:
        'The file is a test of a service. Bytes that cannot be masked need the scope `events:reveal`, and the request is then recorded.',
      input: { position: { ...positionInput, problems: [...(positionInput.problems ?? []), 403] } },
      refusals: ['not-kept', 'no-event', 'not-in-log'],
      handle: ({ position }, context): Promise<Fixture> => savedFixture(monitor, position, context),
    }),
  ]
}

type Parts = Pick<Monitor, 'index' | 'log' | 'ledger' | 'services' | 'now'>

/**
 * @throws {MonitorError} `not-kept`, `no-event`, or `not-in-log` if only the lost bytes show the fault
 * @throws {HttpProblem} 403 if the caller may not see these bytes
 */
export async function savedFixture(
  monitor: Parts,
  position: RecordPosition,
  context: Pick<Context, 'caller'>,
): Promise<Fixture> {
  const rejection = await monitor.index.ask('rejection', position)
  if (!rejection) throw notKept('event')
  const validity = rejection.event?.row.validity
  if (validity === 'replay-note' || validity === 'other')
    throw new MonitorError(
      'no-event',
      'Only events can become fixtures. If this record refers to an event, open its event.',
    )
  const { fileName, app, content } = fixtureOf(rejection)
  const consumers = monitor.services.filter(({ consumes }) => consumes.includes(content.topic))
  const rejecting = consumers.filter(({ name }) => name === app)
  const folders = (rejecting.length > 0 ? rejecting : consumers).map(({ name }) => `${name}/test/fixtures/`)
  if ('envelope' in content || 'valueBase64' in content) return { fileName, folders, content }
  const bytes = await originalBytes(monitor, position, rejection, context)
  const description = `${content.description}, with its original values, which may be personal`
  return {
    ...{ fileName, folders },
    content: { ...content, description, valueBase64: Buffer.from(bytes).toString('base64') },
  }
}

/** Records the view in the audit log before it reads the bytes. */
async function originalBytes(
  { log, ledger, now }: Parts,
  position: RecordPosition,
  { event, deadLetter }: Rejection,
  context: Pick<Context, 'caller'>,
): Promise<Uint8Array> {
  if (context.caller && !context.caller.scopes.has('events:reveal'))
    throw new HttpProblem(403, 'insufficient-scope', 'The token or key does not allow this operation', {
      detail:
        'Only the original bytes show the fault of this event, and they may contain personal values. So this fixture needs the scope events:reveal.',
    })
  const view = { at: now().toISOString(), by: nameOf(context), what: 'PersonalDataViewed' as const, position }
  ledger.record({ ...view, reason: 'saved as a fixture', as: null, edited: null })
  const found = await log.read(async (reader) => {
    const record = event && (await recordAt(reader, event.row.position))
    if (record || !deadLetter?.body.of) return record
    const { row, body } = deadLetter
    const failed = { position: body.of as RecordPosition, deadLetterPosition: row.position, arrivedAt: body.ofAt }
    return await readEvent(reader, failed)
  })
  if (found?.value) return found.value
  throw lost()
}
