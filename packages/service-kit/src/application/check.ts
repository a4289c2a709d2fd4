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

/** Returns a message for each part of services.json that contradicts another part. */
export function problemsOf(application: Application): string[] {
  return [
    ...topicProblems(application),
    ...eventProblems(application),
    ...reactionProblems(application),
    ...objectiveProblems(application),
    ...demoProblems(application),
    ...portProblems(application),
  ]
}

function hasField(event: string, field: string): boolean {
  return eventTypes.some((type) => type.startsWith(`${event}@`) && payloadFields(type).includes(field))
}

const hasSchema = (event: string) => (eventNames as readonly string[]).includes(event)
const unknownEvent = (event: string) =>
  `${event} has no schema; add envelope-schema/schemas/events/${event}.1.json, or use one of ${eventNames.join(', ')}`

function topicProblems({ topics, services }: Application): string[] {
  const names = topics.map(({ name }) => name)
  const constants = topics.map(({ constant }) => constant)
  const used = Object.entries(services).flatMap(([service, { consumes, produces }]) => [
    ...Object.keys(consumes).map((topic) => ({ topic, at: `/services/${service}/consumes/${topic}` })),
    ...Object.keys(produces).map((topic) => ({ topic, at: `/services/${service}/produces/${topic}` })),
  ])
  return [
    ...used
      .filter(({ topic }) => !names.includes(topic))
      .map(({ topic, at }) => `${at}: unknown topic ${topic}; add it to /topics, or use one of ${names.join(', ')}`),
    ...topics
      .filter(({ name }) => !used.some(({ topic }) => topic === name))
      .map(({ name }) => `/topics/${name}: no service produces or consumes it; remove it, or add it to a service`),
    ...topics
      .filter(({ constant }, index) => constants.indexOf(constant) !== index)
      .map(
        ({ name, constant }) =>
          `/topics/${name}/constant: ${constant} is also the constant of another topic; choose another one`,
      ),
    ...topics.flatMap((topic) => {
      const events = eventsOf({ services }, topic)
      return topic.key
        .filter((field) => events.length > 0 && !events.some((event) => hasField(event, field)))
        .map(
          (field) =>
            `/topics/${topic.name}/key: no event of the topic has ${field}; name a field of ${events.join(', ')}`,
        )
    }),
  ]
}

function eventProblems({ topics, services }: Application): string[] {
  const topicOf = new Map<string, string>()
  const named = [
    ...topics.map(({ name, outside }) => ({ at: `/topics/${name}/outside`, topic: name, events: outside })),
    ...Object.entries(services).flatMap(([service, { produces }]) =>
      Object.entries(produces).map(([topic, events]) => ({
        at: `/services/${service}/produces/${topic}`,
        topic,
        events,
      })),
    ),
  ]
  return named.flatMap(({ at, topic, events }) =>
    events.flatMap((event) => {
      const other = topicOf.get(event) ?? topic
      topicOf.set(event, other)
      return [
        ...(hasSchema(event) ? [] : [`${at}: ${unknownEvent(event)}`]),
        ...(other === topic ? [] : [`${at}: ${event} is also an event of ${other}; an event has one topic`]),
      ]
    }),
  )
}

function reactionProblems({ reactions, services }: Application): string[] {
  const firstOf = new Map<string, { at: string; about: string }>()
  return reactions.flatMap(({ after, answers, by, about }, index) => {
    const at = `/reactions/${index}`
    const unknown = [after, ...answers].filter((event) => !hasSchema(event))
    if (unknown.length > 0) return unknown.map((event) => `${at}: ${unknownEvent(event)}`)
    const published = Object.values(services[by]?.produces ?? {}).flat()
    return [
      ...(services[by] ? [] : [serviceProblem(`${at}/by`, by, services)]),
      ...(!services[by] || answers.some((event) => published.includes(event))
        ? []
        : [`${at}/by: ${by} publishes none of ${answers.join(', ')}; name the service that does`]),
      ...[after, ...answers].flatMap((event) => {
        const first = firstOf.get(event) ?? { at, about }
        firstOf.set(event, first)
        if (!hasField(event, about))
          return [`${at}/about: ${event} has no field ${about || 'that is a key'}; name a field that all of them have`]
        return first.about === about
          ? []
          : [
              `${first.at}/about, ${at}/about: ${event} is about ${first.about} in the first and ${about} in the second; use one field for it (default: the first key field of the topic of \`after\`)`,
            ]
      }),
    ]
  })
}

function objectiveProblems({ objective, services }: Application): string[] {
  if (!objective) return []
  const { event, service, seconds } = objective
  return [
    ...(services[service] ? [] : [serviceProblem('/objective/service', service, services)]),
    ...((eventTypes as readonly string[]).includes(event)
      ? []
      : [`/objective/event: ${event} has no schema; use one of ${eventTypes.join(', ')}`]),
    ...(reactionBuckets.includes(seconds)
      ? []
      : [
          `/objective/seconds: the metric orderflow_reaction_seconds has no bucket of ${seconds} s; use one of ${reactionBuckets.join(', ')}`,
        ]),
  ]
}

function demoProblems({ demo, services }: Application): string[] {
  if (!demo) return []
  const named = [
    { at: '/demo/service', name: demo.service },
    ...demo.show.map(({ service }, index) => ({ at: `/demo/show/${index}/service`, name: service })),
  ]
  return [
    ...named.filter(({ name }) => !services[name]).map(({ at, name }) => serviceProblem(at, name, services)),
    ...demo.until.events
      .filter((event) => !hasSchema(event))
      .map((event) => `/demo/until/events: ${unknownEvent(event)}`),
  ]
}

function portProblems({ services }: Application): string[] {
  const users = new Map<number, string>()
  const ports = Object.entries(services).flatMap(([name, { http, https, channel }]) =>
    Object.entries({ http, https, channel }).map(([kind, port]) => ({ at: `/services/${name}/${kind}`, port })),
  )
  return ports.flatMap(({ at, port }) => {
    const user = users.get(port)
    users.set(port, user ?? at)
    return user === undefined ? [] : [`${at}: ${port} is also the port of ${user}; choose another one`]
  })
}

const serviceProblem = (at: string, name: string, services: Application['services']) =>
  `${at}: unknown service ${name}; use one of ${Object.keys(services).join(', ')}`
