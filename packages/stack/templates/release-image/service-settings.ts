import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readSettings, readTrust, type ServiceDefinition } from '@orderflow/service-kit'

type Variables = Record<string, string | undefined>

/** Stand-ins for two tokens. A container creates the real tokens at every start. */
const madeLater = { APP_API_TOKEN: 'made later', DAPR_API_TOKEN: 'made later' }

/** Checks the variables by the service's own rules. Returns a line for each missing or invalid variable, beginning with its name. */
export async function serviceProblems(folder: string, variables: Variables): Promise<string[]> {
  try {
    await readServiceSettings(folder, { ...variables, ...madeLater })
    return []
  } catch (error) {
    if (error instanceof Error && 'problems' in error) return error.problems as string[]
    throw error
  }
}

async function readServiceSettings(folder: string, variables: Variables): Promise<void> {
  const { service } = (await import(pathToFileURL(join(folder, 'src/service.ts')).href)) as {
    service: ServiceDefinition
  }
  const { Trust } = readSettings(service, variables)
  readTrust(service.root, Trust)
}
