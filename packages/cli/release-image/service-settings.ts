import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readSettings, readTrust, type ServiceDefinition } from '@orderflow/service-kit'

type Variables = Record<string, string | undefined>

/** An image creates its tokens at every start. */
const madeLater = { APP_API_TOKEN: 'made later', DAPR_API_TOKEN: 'made later' }

/** Returns a line for each missing or invalid variable, which begins with its name, by the service's own rules. */
export async function serviceProblems(folder: string, variables: Variables): Promise<string[]> {
  try {
    await readServiceSettings(folder, { ...variables, ...madeLater })
    return []
  } catch (error) {
    if (error instanceof Error && 'problems' in error) return error.problems as string[]
    throw error
  }
}

/** Reads settings and trusted publishers like the service at its start. */
async function readServiceSettings(folder: string, variables: Variables): Promise<void> {
  const { service } = (await import(pathToFileURL(join(folder, 'src/service.ts')).href)) as {
    service: ServiceDefinition
  }
  const { Trust } = readSettings(service, variables)
  readTrust(service.root, Trust)
}
