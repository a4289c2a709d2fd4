import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readSettings, readTrust, type ServiceDefinition } from '@orderflow/service-kit'

type Variables = Record<string, string | undefined>

/** The two find each other by these, and an image makes them at every start. */
const madeLater = { APP_API_TOKEN: 'made later', DAPR_API_TOKEN: 'made later' }

/** A line for each variable that is missing or wrong by the service's own rules, beginning with its name. */
export async function serviceProblems(folder: string, variables: Variables): Promise<string[]> {
  try {
    await readServiceSettings(folder, { ...variables, ...madeLater })
    return []
  } catch (error) {
    if (error instanceof Error && 'problems' in error) return error.problems as string[]
    throw error
  }
}

/**
 * Reads the settings, and whom to trust, as the service in `folder` does at its start. It is loaded by its folder, since neither an image nor a
 * release knows beforehand which services there are.
 */
async function readServiceSettings(folder: string, variables: Variables): Promise<void> {
  const { service } = (await import(pathToFileURL(join(folder, 'src/service.ts')).href)) as {
    service: ServiceDefinition
  }
  const { Trust } = readSettings(service, variables)
  readTrust(service.root, Trust)
}
