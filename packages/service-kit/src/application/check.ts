import { readFileSync } from 'node:fs'
import { eventNames, eventTypes, payloadFields } from '@orderflow/envelope'
import { Ajv, type ErrorObject } from 'ajv'
import { type Application, type ApplicationJson, eventsOf } from './application.ts'
import { reactionBuckets } from './reaction-buckets.ts'

const schema = JSON.parse(readFileSync(new URL('application.schema.json', import.meta.url), 'utf8')) as object
// A test validates the schema, so Ajv need not validate it here.
const validate = new Ajv({ allErrors: true, validateSchema: false, strict: false }).compile<ApplicationJson>(schema)

export function shapeProblems(content: unknown): string[] {
  if (validate(content)) return []
  return (validate.errors ?? []).flatMap(describe)
}

function describe({ keyword, instancePath, params, message, propertyName }: ErrorObject): string[] {
  // The keyword `propertyNames` already reports an invalid name.
  if (propertyName !== undefined || keyword === 'anyOf') return []
  const fieldAt = (field: string) => `${instancePath}/${field}`
  if (keyword === 'propertyNames')
    return [
      `${fieldAt(params.propertyName)}: is not a valid topic name; use letters, digits, dots, hyphens and underscores`,
    ]
  if (keyword === 'additionalProperties') return [`${fieldAt(params.additionalProperty)}: no such field; remove it`]
  if (keyword === 'required') return [`${fieldAt(params.missingProperty)}: is missing; add it`]
  if (keyword === 'enum') return [`${instancePath}: must be one of ${params.allowedValues.join(', ')}`]
  return [`${instancePath || 'the file'}: ${message}`]
}

/** Yields a message for each part of services.json that contradicts another part. */
export function* problemsOf(application: Application): Generator<string> {
  yield* topicProblems(application)
  yield* eventProblems(application)
  yield* reactionProblems(application)
  yield* objectiveProblems(application)
  yield* demoProblems(application)
  yield* portProblems(application)
}

const hasField = (event: string, field: string): boolean =>
  eventTypes.some((type) => type.startsWith(`${event}@`) && payloadFields(type).includes(field))

const hasSchema = (event: string) => (eventNames as readonly string[]).includes(event)
const unknownEvent = (event: string) =>
  `${event} has no schema; add envelope-schema/schemas/events/${event}.1.json, or use one of ${eventNames.join(', ')}`

function* topicProblems({ topics, services }: Application): Generator<string> {
  const names = topics.map(({ name }) => name)
  const constants = topics.map(({ constant }) => constant)
  const used = new Set<string>()
  for (const [service, { consumes, produces }] of Object.entries(services))
    for (const [kind, own] of Object.entries({ consumes, produces }))
      for (const topic of Object.keys(own)) {
        used.add(topic)
        if (names.includes(topic)) continue
        yield `/services/${service}/${kind}/${topic}: unknown topic ${topic}; add it to /topics, or use one of ${names.join(', ')}`
      }
  for (const name of names)
    if (!used.has(name)) yield `/topics/${name}: no service produces or consumes it; remove it, or add it to a service`
  for (const [index, { name, constant }] of topics.entries())
    if (constants.indexOf(constant) !== index)
      yield `/topics/${name}/constant: ${constant} is also the constant of another topic; choose another one`
  for (const topic of topics) {
    const events = eventsOf({ services }, topic)
    for (const field of topic.key)
      if (events.length > 0 && !events.some((event) => hasField(event, field)))
        yield `/topics/${topic.name}/key: no event of the topic has ${field}; name a field of ${events.join(', ')}`
  }
}

function* eventProblems({ topics, services }: Application): Generator<string> {
  const topicOf = new Map<string, string>()
  function* problemsAt(at: string, topic: string, events: readonly string[]): Generator<string> {
    for (const event of events) {
      const other = topicOf.get(event) ?? topic
      topicOf.set(event, other)
      if (!hasSchema(event)) yield `${at}: ${unknownEvent(event)}`
      if (other !== topic) yield `${at}: ${event} is also an event of ${other}; an event has one topic`
    }
  }
  for (const { name, outside } of topics) yield* problemsAt(`/topics/${name}/outside`, name, outside)
  for (const [service, { produces }] of Object.entries(services))
    for (const [topic, events] of Object.entries(produces))
      yield* problemsAt(`/services/${service}/produces/${topic}`, topic, events)
}

function* reactionProblems({ reactions, services }: Application): Generator<string> {
  const firstOf = new Map<string, { at: string; about: string }>()
  for (const [index, { after, answers, by, about }] of reactions.entries()) {
    const at = `/reactions/${index}`
    const unknown = [after, ...answers].filter((event) => !hasSchema(event))
    for (const event of unknown) yield `${at}: ${unknownEvent(event)}`
    if (unknown.length > 0) continue
    const published = services[by] && Object.values(services[by].produces).flat()
    if (!published) yield serviceProblem(`${at}/by`, by, services)
    else if (!answers.some((event) => published.includes(event)))
      yield `${at}/by: ${by} publishes none of ${answers.join(', ')}; name the service that does`
    for (const event of [after, ...answers]) {
      const first = firstOf.get(event) ?? { at, about }
      firstOf.set(event, first)
      if (!hasField(event, about))
        yield `${at}/about: ${event} has no field ${about || 'that is a key'}; name a field that all of them have`
      else if (first.about !== about)
        yield `${first.at}/about, ${at}/about: ${event} is about ${first.about} in the first and ${about} in the second; use one field for it (default: the first key field of the topic of \`after\`)`
    }
  }
}

function* objectiveProblems({ objective, services }: Application): Generator<string> {
  if (!objective) return
  const { event, service, seconds } = objective
  if (!services[service]) yield serviceProblem('/objective/service', service, services)
  if (!(eventTypes as readonly string[]).includes(event))
    yield `/objective/event: ${event} has no schema; use one of ${eventTypes.join(', ')}`
  if (!reactionBuckets.includes(seconds))
    yield `/objective/seconds: the metric orderflow_reaction_seconds has no bucket of ${seconds} s; use one of ${reactionBuckets.join(', ')}`
}

function* demoProblems({ demo, services }: Application): Generator<string> {
  if (!demo) return
  if (!services[demo.service]) yield serviceProblem('/demo/service', demo.service, services)
  for (const [index, { service }] of demo.show.entries())
    if (!services[service]) yield serviceProblem(`/demo/show/${index}/service`, service, services)
  for (const event of demo.until.events) if (!hasSchema(event)) yield `/demo/until/events: ${unknownEvent(event)}`
}

function* portProblems({ services }: Application): Generator<string> {
  const users = new Map<number, string>()
  for (const [name, { http, https, channel }] of Object.entries(services))
    for (const [kind, port] of Object.entries({ http, https, channel })) {
      const at = `/services/${name}/${kind}`
      const user = users.get(port)
      users.set(port, user ?? at)
      if (user !== undefined) yield `${at}: ${port} is also the port of ${user}; choose another one`
    }
}

const serviceProblem = (at: string, name: string, services: Application['services']) =>
  `${at}: unknown service ${name}; use one of ${Object.keys(services).join(', ')}`
