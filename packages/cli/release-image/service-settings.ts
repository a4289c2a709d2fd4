import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readSettings, readTrust, type ServiceDefinition } from '@orderflow/service-kit'

type Variables = Record<string, string | undefined>

/** Placeholders for the tokens that an image creates at every start. */
const madeLater = { APP_API_TOKEN: 'made later', DAPR_API_TOKEN: 'made later' }

/** Returns a line for each variable that is missing or invalid by the service's own rules. The line begins with the name. */
export async function serviceProblems(folder: string, variables: Variables): Promise<string[]> {
  try {
    await readServiceSettings(folder, { ...variables, ...madeLater })
    return []
  } catch (error) {
    if (error instanceof Error && 'problems' in error) return error.problems as string[]
    throw error
  }
}

/** Reads the settings and trusted publishers like the service in `folder` at its start. */
async function readServiceSettings(folder: string, variables: Variables): Promise<void> {
  const { service } = (await import(pathToFileURL(join(folder, 'src/service.ts')).href)) as {
    service: ServiceDefinition
  }
  const { Trust } = readSettings(service, variables)
  readTrust(service.root, Trust)
}
