import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { application, doesConsume, services } from '@orderflow/stack'
import { repository } from '@orderflow/stack/base'
import { code, type Generated, json, type Schema, table } from './markdown.ts'

interface Message {
  summary: string
  examples?: { payload: unknown }[]
}

const contract = join(repository, 'envelope-schema')
const read = (file: string) => JSON.parse(readFileSync(join(contract, file), 'utf8'))
const definitions = (read('schemas/common.json') as { $defs: Record<string, Schema> }).$defs

/** Returns the page of topics and events: keys, publishers, receivers, fields and examples. */
export function eventsPage(): Generated {
  const messages = read('asyncapi.json').components.messages as Record<string, Message>
  const types = Object.keys(messages).flatMap((name) => /^(.+)\.full$/.exec(name)?.[1] ?? [])
  const topics = application.topics.map((topic) => topicText(topic))
  return {
    name: 'events',
    title: 'Topics and events',
    description: 'The topics, and the fields of every event, with examples',
    origin: '`services.json` and the schemas in `envelope-schema/schemas/`',
    body: [
      'Every event is an [envelope](../../envelope-schema/README.md). Its Payload has the fields below.',
      ...topics,
      `## Envelope\n\n${fieldsText(read('schemas/envelope.full.json'))}`,
      ...types.map((type) => eventText(type, messages[`${type}.full`])),
    ].join('\n\n'),
  }
}

function topicText({ name, key, outside }: (typeof application.topics)[number]): string {
  const publishers = services.flatMap(({ name: service, publishes }) =>
    publishes[name]?.length ? [`${service} (${publishes[name].join(', ')})`] : [],
  )
  const receivers = services.filter((service) => doesConsume(service) && name in service.consumes)
  const rows = [
    ['Key', [key].flat().map(code).join(', ')],
    ['Published by', publishers.join(', ')],
    ['Outside applications may publish', outside.join(', ') || 'no events'],
    ['Consumed by', receivers.map((service) => service.name).join(', ')],
  ]
  return `## Topic ${name}\n\n${table(['Property', 'Value'], rows)}`
}

function eventText(type: string, message: Message | undefined): string {
  const example = message?.examples?.[0]?.payload
  return [
    `## ${type.replace('.', '@')}`,
    message?.summary,
    fieldsText(read(`schemas/events/${type}.json`)),
    example ? `An example:\n\n${json(example)}` : '',
  ].join('\n\n')
}

function fieldsText({ properties = {}, required = [] }: Schema): string {
  const rows = Object.entries(properties).map(([name, schema]) => [
    code(name),
    kindOf(schema),
    required.includes(name) ? 'yes' : 'no',
    [descriptionOf(schema), schema['x-pii'] && 'Personal data.'].filter(Boolean).join(' '),
  ])
  return table(['Field', 'Type', 'Required', 'Meaning'], rows)
}

const definitionOf = ({ $ref }: Schema): Schema | undefined => definitions[$ref?.split('/').at(-1) ?? '']

/** Returns the title of a shared rule that is no field of the envelope, such as “GUID”; otherwise the JSON type. */
function kindOf(schema: Schema): string {
  const shared = definitionOf(schema)
  if (shared && !/^[A-Z]/.test(schema.$ref?.split('/').at(-1) ?? '')) return shared.title ?? ''
  if (shared) return kindOf(shared)
  return [schema.type ?? 'any value'].flat().join(' or ').replace('string', 'text')
}

const descriptionOf = (schema: Schema): string => schema.description ?? definitionOf(schema)?.description ?? ''
