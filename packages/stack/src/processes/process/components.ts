import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CliError } from '../lib/error.ts'

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
