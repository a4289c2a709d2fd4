import { isSecretName } from '@orderflow/service-kit/secret-names'
import { type ConfigVars, hasCredentials } from '../settings/config-vars.ts'

/** One config var as it is on the platform and as it is to be; undefined where it does not exist. */
export interface Change {
  name: string
  before: string | undefined
  after: string | undefined
}

/** What differs for the names of `wanted`. Other config vars of the app are not ours, and stay. */
export function changesBetween(current: ConfigVars, wanted: Record<string, string | undefined>): Change[] {
  return Object.entries(wanted)
    .map(([name, after]) => ({ name, before: current[name], after }))
    .filter(({ before, after }) => before !== after)
    .sort((a, b) => a.name.localeCompare(b.name))
}

/** The body of the PATCH that makes the changes; null removes a config var. */
export function patchOf(changes: Change[]): Record<string, string | null> {
  return Object.fromEntries(changes.map(({ name, after }) => [name, after ?? null]))
}

/** A line as of a diff: `+` new, `-` gone, `~` changed. */
export function describeChange({ name, before, after }: Change): string {
  if (before === undefined) return `+ ${name} = ${show(name, after)}`
  if (after === undefined) return `- ${name} = ${show(name, before)}`
  return `~ ${name} = ${show(name, before)} -> ${show(name, after)}${isSecretName(name) ? ' (another value)' : ''}`
}

function show(name: string, value = ''): string {
  if (value === '') return '(empty)'
  if (isSecretName(name) || hasCredentials(value)) return '***'
  const line = value.replaceAll('\n', ' ')
  return line.length > 60 ? `${line.slice(0, 57)}...` : line
}
