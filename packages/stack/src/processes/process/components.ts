import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../../application/paths.ts'
import { CliError } from '../../base/error.ts'
import { replaceFile } from '../../base/files.ts'

type SettingSections = Record<string, Record<string, unknown>>

/**
 * Returns the variables for `components/`: the sections `Stream` and `State` of `appsettings.json` as `Section__Key`. The stack's variables
 * replace these values.
 * @throws {CliError} `settings` if the file is invalid
 */
export function componentSettings(serviceFolder: string, env: NodeJS.ProcessEnv): Record<string, string> {
  const sections = readSections(join(serviceFolder, 'appsettings.json'))
  const variables: Record<string, string> = {}
  for (const section of ['Stream', 'State']) {
    for (const [key, value] of Object.entries(sections[section] ?? {})) variables[`${section}__${key}`] = String(value)
  }
  for (const [name, value] of Object.entries(env)) {
    if (/^(Stream|State)__\w+$/.test(name) && value !== undefined) variables[name] = value
  }
  return variables
}

function readSections(file: string): SettingSections {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as SettingSections
  } catch (cause) {
    throw new CliError('settings', `${file}: ${(cause as Error).message}`, { nextStep: 'correct the file', cause })
  }
}

/** The folder of the components of sidecars that wait for a service while a debugger stops it. */
export const patientComponents = (folder: string): string => join(folder, 'components')

/** Copies `components/`, and lets a delivery take one day. Then the sidecar does not repeat a delivery whose service is at a breakpoint. */
export function writePatientComponents(folder: string): void {
  const copy = patientComponents(folder)
  rmSync(copy, { recursive: true, force: true })
  cpSync(join(repository, 'components'), copy, { recursive: true })
  const file = join(copy, 'resiliency.yaml')
  replaceFile(file, readFileSync(file, 'utf8').replace(/(?<=^ +handler: ).*$/m, '24h'))
}
