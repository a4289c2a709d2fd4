import { describeProblem, EnvelopeError, eventNames, isGuidField, parseEvent, payloadFields } from '@orderflow/envelope'
import { keyOf, openPublisher, type PublishedPosition } from '@orderflow/envelope/kafka'
import { type Demo, outsideRefusal, topicOfEvent } from '@orderflow/service-kit/application'
import {
  type Addresses,
  application,
  outsideTopics,
  requireKafka,
  services,
  shownUrlOf,
  topicFor,
  watchUrl,
} from '@orderflow/stack'
import { CliError, isObject, objectIn, print } from '@orderflow/stack/base'
import { findErrorBy } from '@platformatic/kafka'
import type { Command, Given } from '../../command-line.ts'
import { nearKafka, readBytes } from '../../near-kafka.ts'

/** Publishes with a Kafka client, without Dapr. */
export const command: Command = {
  parameters: 'FILE',
  more: 'If FILE is -, the command reads its standard input.',
  options: {
    key: { value: 'KEY', summary: 'the key of the record (default: the topic’s key in the event)' },
    raw: { summary: 'skip validation, for example to see a dead letter' },
  },
  run: nearKafka('publish', publish, ({ args: [file], text, flag }) => {
    const key = text('key')
    const options = [...(key ? ['--key', key] : []), ...(flag('raw') ? ['--raw'] : [])]
    return { args: [...(file ? ['-'] : []), ...options], file }
  }),
}

export async function publish({ args: [file], text, flag }: Pick<Given, 'args' | 'text' | 'flag'>): Promise<void> {
  if (!file) throw new CliError('usage', 'the file is missing', { nextStep: './orderflow publish event.json' })
  const event = readEventFile(file, text('key'))
  const raw = flag('raw') ?? false
  if (!raw) requireAccepted(event)
  const addresses = await requireKafka()
  const publisher = await openPublisher(addresses.publisher, 'orderflow-publish')
  const sent = publisher.send([event]).finally(() => publisher.close())
  const [at = { partition: 0, offset: 0n }] = await sent.catch((error: Error) => refused(error, event))
  const { partition, offset } = at
  print(`published to ${event.topic}, partition ${partition}, offset ${offset}, key ${event.key ?? '(none)'}`)
  print(
    raw
      ? 'next: make dead-letters shows the reason if the event is invalid'
      : nextStep(event, at, addresses, application.demo),
  )
}

function refused(error: Error, { topic }: EventRecord): never {
  if (!findErrorBy(error, 'apiId', 'TOPIC_AUTHORIZATION_FAILED')) throw error
  throw new CliError('denied', `outside publishers may not write ${topic}, only ${outsideTopics.join()}`, {
    nextStep: 'see docs/publishing.md for the rights of publishers',
    cause: error,
  })
}

/** Returns the next step to see the event's effect: requests to the demo's paths, the event's page in the monitor, or a consumer's log. */
export function nextStep(
  { topic, value }: EventRecord,
  { partition, offset }: PublishedPosition,
  addresses: Addresses,
  demo: Demo | undefined,
): string {
  const envelope = objectIn(value.toString()) ?? {}
  const id = demo && demoIdIn(envelope, demo)
  if (demo && id !== undefined) {
    const commands = [demo, ...demo.show].map(({ service, get }) => {
      const url = `${shownUrlOf(addresses, service)}${get.replaceAll('{id}', id)}`
      return `curl ${url.includes('?') ? `'${url}'` : url}`
    })
    return `next: ${commands.join(' and ')}`
  }
  if (services.some(({ watches }) => watches)) {
    const page = typeof envelope.Id === 'string' ? `id/${envelope.Id}` : `e/${topic}/${partition}/${offset}`
    return `next: ${watchUrl(addresses)}/${page}`
  }
  const consumer = services.find(({ consumes }) => topic in consumes)
  return `next: make logs SERVICE=${consumer?.name ?? services[0]?.name}`
}

/**
 * Returns the id of the demo's thing, such as a parcel. Returns undefined unless the topic's key is one GUID field with the thing's name, such as
 * `ParcelId`.
 */
function demoIdIn(envelope: Json, { thing }: Demo): string | undefined {
  const name = eventNames.find((each) => each === envelope.Name)
  const [field = '', ...others] = (name && topicOfEvent(application, name)?.key) ?? []
  const isId = field.toLowerCase() === `${thing.replaceAll(/\W/g, '')}id`.toLowerCase()
  const hasId = name && isId && others.length === 0 && payloadFields(name).includes(field) && isGuidField(name, field)
  return hasId ? keyOf(envelope, field) : undefined
}

function requireAccepted({ topic, value }: EventRecord): void {
  try {
    const { Name } = parseEvent(value)
    const refusal = outsideRefusal(application, Name, topic)
    if (refusal === undefined) return
    throw new CliError('usage', `${Name} ${refusal}`, {
      nextStep: 'send it unchecked with --raw to see a dead letter',
    })
  } catch (error) {
    if (!(error instanceof EnvelopeError)) throw error
    const problems = error.problems.map((problem) => `  ${describeProblem(problem)}`)
    throw new CliError('invalid-event', `this is not a valid event:\n${problems.join('\n')}`, {
      nextStep: 'correct the file, or send it unchecked with --raw to see a dead letter',
    })
  }
}

interface EventRecord {
  topic: string
  key: string | undefined
  value: Buffer
}

type Json = Record<string, unknown>

/** Returns the record for a file with an envelope or a fixture (envelope-schema/fixtures). */
export function readEventFile(file: string, key: string | undefined): EventRecord {
  const bytes = readBytes(file)
  const value = fixtureIn(objectIn(bytes.toString())) ?? bytes
  const envelope = objectIn(value.toString())
  const topic = topicFor(envelope?.Name)
  if (!topic) {
    const what = envelope?.Name ?? 'this event'
    throw new CliError('usage', `${what} is unknown, and services.json has no topics for outside publishers`, {
      nextStep: 'add it to `outside` of a topic in services.json, then run make generate',
    })
  }
  return { topic: topic.name, key: key ?? (envelope && keyOf(envelope, topic.key)), value }
}

function fixtureIn(content: Json = {}): Buffer | undefined {
  const { Name, inputBase64, inputText, input, envelope } = content
  if (Name !== undefined) return undefined
  if (typeof inputBase64 === 'string') return Buffer.from(inputBase64, 'base64')
  if (typeof inputText === 'string') return Buffer.from(inputText)
  const document = input ?? envelope
  return isObject(document) ? Buffer.from(JSON.stringify(document)) : undefined
}
