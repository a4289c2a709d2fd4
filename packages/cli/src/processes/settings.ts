import { readFileSync } from 'node:fs'
import { join } from 'node:path'

type Sections = Record<string, Record<string, unknown>>

/**
 * What a service's sidecar needs from its settings, as the variables that `components/` reads: every key of the sections
 * `Stream` and `State` of `appsettings.json` as `Section__Key`, the environment over the file.
 */
export function componentSettings(serviceFolder: string, env: NodeJS.ProcessEnv): Record<string, string> {
  const sections = JSON.parse(readFileSync(join(serviceFolder, 'appsettings.json'), 'utf8')) as Sections
  const variables: Record<string, string> = {}
  for (const section of ['Stream', 'State']) {
    for (const [key, value] of Object.entries(sections[section] ?? {})) variables[`${section}__${key}`] = String(value)
  }
  for (const [name, value] of Object.entries(env)) {
    if (/^(Stream|State)__\w+$/.test(name) && value !== undefined) variables[name] = value
  }
  return variables
}
