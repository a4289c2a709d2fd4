import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Application, type ApplicationJson, topicOfEvent } from './application.ts'
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
  const flaws = shapeProblems(content)
  if (flaws.length > 0) throw new ApplicationError(file, flaws)
  const application = applicationOf(content as ApplicationJson)
  const problems = [...problemsOf(application)]
  if (problems.length > 0) throw new ApplicationError(file, problems)
  return application
}

function applicationOf(json: ApplicationJson): Application {
  const { partitions, portOffset = 0, consumersPerReplica, settings = {}, objective, demo, services } = json
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

const camelCase = (topic: string) => topic.replaceAll(/[._-]+(\w?)/g, (_, letter: string) => letter.toUpperCase())
