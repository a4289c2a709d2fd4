import { createEnvelope } from '../envelope/create.ts'
import { decode } from '../envelope/parse.ts'
import { knownVersions } from '../schemas/schemas.ts'
import type { EventPayloads, EventType } from '../schemas/types.ts'
import { momentProblem, parseMoment } from '../validation/moment.ts'
import { EnvelopeError } from '../validation/problems.ts'
import { type Io, write } from './io.ts'
import { problemLine } from './report.ts'
import { didYouMean, readGiven, readOptions, UsageError } from './usage.ts'

export const help = `Usage: envelope new NAME[@VERSION] --data JSON|@FILE|-

Print a full envelope in one line, for \`envelope publish\`. If the data is invalid, print its problems. The default VERSION is the newest.

  --data JSON            the Payload; @FILE reads a file, - reads standard input
  --app-id GUID          or ENVELOPE_APP_ID: identifies your application, and never changes
  --app-name NAME        or ENVELOPE_APP_NAME
  --id, --correlation-id, --trace-id GUID
                         default: new ids; the CorrelationId is the TraceId
  --date DATE            time of the event: a date-time with an offset, such as 2026-01-31T12:00:00Z. Default: now
  --tenant ID            the event's TenantID
  --pretty               print the envelope on several lines

Exit codes: 0 if the envelope is valid, 1 if it is invalid, 2 for wrong arguments.
`

const options = {
  data: { type: 'string' },
  'app-id': { type: 'string' },
  'app-name': { type: 'string' },
  id: { type: 'string' },
  'correlation-id': { type: 'string' },
  'trace-id': { type: 'string' },
  date: { type: 'string' },
  tenant: { type: 'string' },
  pretty: { type: 'boolean', default: false },
} as const

export async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = readOptions(args, options)
  const [event, another] = positionals
  if (!event || another) throw new UsageError('name one event, such as envelope new NAME --data {}')
  const type = typeOf(event)
  if (values.data === undefined) throw new UsageError('no data: set --data JSON, @FILE or -')
  const [id, name] = [values['app-id'] ?? io.env.ENVELOPE_APP_ID, values['app-name'] ?? io.env.ENVELOPE_APP_NAME]
  if (!id || !name)
    throw new UsageError('no application: set --app-id and --app-name, or ENVELOPE_APP_ID and ENVELOPE_APP_NAME')
  const creationDate = dateOf(values.date)
  try {
    const envelope = createEnvelope({
      type,
      app: { id, name },
      payload: decode(await dataOf(values.data, io)) as EventPayloads[EventType],
      creationDate,
      id: values.id,
      correlationId: values['correlation-id'],
      traceId: values['trace-id'],
      tenant: values.tenant === undefined ? undefined : { id: values.tenant, userId: '' },
    })
    await write(io.stdout, `${JSON.stringify(envelope, null, values.pretty ? 2 : 0)}\n`)
    return 0
  } catch (error) {
    if (!(error instanceof EnvelopeError)) throw error
    await write(io.stderr, error.problems.map((problem) => problemLine(event, problem)).join(''))
    return 1
  }
}

/** @throws {UsageError} naming the nearest event */
function typeOf(event: string): EventType {
  const [name = '', version] = event.split('@')
  const versions = knownVersions.get(name)
  if (versions) return `${name}@${version ?? versions.at(-1)}` as EventType
  const known = [...knownVersions.keys()]
  throw new UsageError(`unknown event ${name}${didYouMean(name, known)}; use one of ${known.join(', ')}`)
}

/** @throws {UsageError} if the text is not a date-time with an offset */
function dateOf(date: string | undefined): Date {
  const moment = date === undefined ? new Date() : parseMoment(date)
  if (moment) return moment
  throw new UsageError(`--date ${momentProblem(date ?? '')}`)
}

async function dataOf(data: string, { stdin }: Io): Promise<Uint8Array> {
  if (data === '-') return Buffer.concat(await stdin.toArray())
  return data.startsWith('@') ? readGiven('--data', data.slice(1)) : Buffer.from(data)
}
