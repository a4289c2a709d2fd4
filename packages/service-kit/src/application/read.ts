import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Application, type ApplicationJson, type ServiceEntry, topicOfEvent } from './application.ts'
import { problemsOf, shapeProblems } from './check.ts'
import { ApplicationError } from './file.ts'

/** Reads the application from services.json. @throws {ApplicationError} for an unreadable or invalid file */
export function readApplication(file: URL | string): Application {
  const path = file instanceof URL ? fileURLToPath(file) : file
  try {
    return parseApplication(readFileSync(file, 'utf8'), path)
  } catch (error) {
    if (error instanceof ApplicationError) throw error
    throw new ApplicationError(path, [`cannot be read: ${(error as Error).message}`])
  }
}

/** Returns the application from the text of services.json. @param file the name of the file, for messages @throws {ApplicationError} */
export function parseApplication(text: string, file: string): Application {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch (error) {
    throw new ApplicationError(file, [`is not JSON: ${(error as Error).message}`])
  }
  const shape = shapeProblems(content)
  const flaws = shape.length > 0 ? shape : takenTopics(content as ApplicationJson)
  if (flaws.length > 0) throw new ApplicationError(file, flaws)
  const application = applicationOf(content as ApplicationJson)
  const problems = [...problemsOf(application)]
  if (problems.length > 0) throw new ApplicationError(file, problems)
  return withKitTopics(application)
}

function applicationOf(json: ApplicationJson): Application {
  const { partitions, portOffset = 0, consumersPerReplica, settings = {}, objective, services, demo } = json
  const topics = Object.entries(json.topics).map(([name, { constant = camelCase(name), key, outside = [] }]) => ({
    name,
    constant,
    key: [key].flat(),
    outside,
  }))
  const aboutOf = (event: string) => topicOfEvent({ topics, services }, event)?.key[0] ?? ''
  const reactions = (json.reactions ?? []).map((one) => ({ ...one, about: one.about ?? aboutOf(one.after) }))
  return {
    ...{ partitions, portOffset, consumersPerReplica, settings, topics, reactions, objective, services },
    demo: demo && { ...demo, show: demo.show ?? [], scopes: demo.scopes ?? [] },
  }
}

/** The topics of the service kit, whose publishers are their only consumers, by the setting of services.json that adds them. */
const topicsOfKit = { deadlines: 'DeadlinePassed', calls: 'CallAnswered' } as const
type KitTopic = keyof typeof topicsOfKit

/** Returns the topics of the service kit that the services need. Their names are those of the settings. */
const kitTopicsOf = (services: readonly ServiceEntry[]): KitTopic[] =>
  (Object.keys(topicsOfKit) as KitTopic[]).filter((topic) => services.some((service) => service[topic]))

/** Returns the problems of an application that uses the name of such a topic, or its constant, for other events. */
const takenTopics = ({ topics, services }: ApplicationJson): string[] =>
  kitTopicsOf(Object.values(services)).flatMap((taken) =>
    Object.entries(topics).flatMap(([name, { constant }]) => {
      if (name === taken) return [`/topics/${name}: services with ${taken} use this topic; give yours another name`]
      if (constant !== taken) return []
      return [`/topics/${name}: services with ${taken} use the constant ${constant}; give yours another one`]
    }),
  )

/** Adds the topics of the service kit. They need no checks: `make generate` also writes the schemas of their events. */
function withKitTopics(application: Application): Application {
  const added = kitTopicsOf(Object.values(application.services))
  if (added.length === 0) return application
  const topics = added.map((name) => ({ name, constant: name, key: ['EntityId'], outside: [] }))
  return {
    ...application,
    topics: [...application.topics, ...topics],
    services: Object.fromEntries(
      Object.entries(application.services).map(([name, service]) => [name, withOwnTopics(service)]),
    ),
  }
}

function withOwnTopics(service: ServiceEntry): ServiceEntry {
  const own = kitTopicsOf([service])
  return {
    ...service,
    consumes: { ...service.consumes, ...Object.fromEntries(own.map((topic) => [topic, 'prompt' as const])) },
    produces: { ...service.produces, ...Object.fromEntries(own.map((topic) => [topic, [topicsOfKit[topic]]])) },
  }
}

const camelCase = (topic: string) => topic.replaceAll(/[._-]+(\w?)/g, (_, letter: string) => letter.toUpperCase())
