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
  const flaws = shape.length > 0 ? shape : takenTopic(content as ApplicationJson)
  if (flaws.length > 0) throw new ApplicationError(file, flaws)
  const application = applicationOf(content as ApplicationJson)
  const problems = [...problemsOf(application)]
  if (problems.length > 0) throw new ApplicationError(file, problems)
  return withDeadlines(application)
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

/** The topic of `DeadlinePassed`, whose publishers are its only consumers. */
const deadlineTopic = 'deadlines'

/** Returns the problem of an application that uses the name of this topic or its constant for other events. */
function takenTopic({ topics, services }: ApplicationJson): string[] {
  if (!haveDeadlines(services)) return []
  return Object.entries(topics).flatMap(([name, { constant }]) => {
    if (name === deadlineTopic)
      return [`/topics/${name}: services with deadlines use this topic; give yours another name`]
    if (constant !== deadlineTopic) return []
    return [`/topics/${name}: services with deadlines use the constant ${constant}; give yours another one`]
  })
}

const haveDeadlines = (services: Application['services']) => Object.values(services).some(({ deadlines }) => deadlines)

/** Adds the topic of deadlines, if services have some. It needs no checks: `make generate` also writes the schema of its event. */
function withDeadlines(application: Application): Application {
  const { topics, services } = application
  if (!haveDeadlines(services)) return application
  return {
    ...application,
    topics: [...topics, { name: deadlineTopic, constant: deadlineTopic, key: ['EntityId'], outside: [] }],
    services: Object.fromEntries(Object.entries(services).map(([name, one]) => [name, serviceOf(one)])),
  }
}

/** Returns a service with the topic of its deadlines, if it has some. */
function serviceOf(service: ServiceEntry): ServiceEntry {
  if (!service.deadlines) return service
  const { consumes, produces } = service
  return {
    ...service,
    consumes: { ...consumes, [deadlineTopic]: 'prompt' },
    produces: { ...produces, [deadlineTopic]: ['DeadlinePassed'] },
  }
}

const camelCase = (topic: string) => topic.replaceAll(/[._-]+(\w?)/g, (_, letter: string) => letter.toUpperCase())
