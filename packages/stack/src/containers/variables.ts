import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { repository } from '../application/paths.ts'
import { requireSameVariables, select } from '../application/variables.ts'
import { CliError } from '../base/error.ts'
import { replaceFile } from '../base/files.ts'
import { envFile, filesOf, withVariables } from './project.ts'

type Variables = Record<string, string>

/** Variables that select the project and its Compose files. Only `.env` sets the last two, because other options select them. */
const project = 'COMPOSE_PROJECT_NAME'
const selectors = [project, 'COMPOSE_FILE', 'COMPOSE_PROFILES']

/** Returns the names of all variables that Compose reads in the Compose files. The value is true for variables that must have a value. */
export function namesInFiles(folder: string): Map<string, boolean> {
  const files = filesOf({ store: 'postgresql', brokers: 3 }, folder).map((file) => join(folder, file))
  const text = files
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
  const names = new Map<string, boolean>()
  // Two dollar signs are an escaped one.
  for (const [, name = '', operator] of text.matchAll(/(?<!\$)(?:\$\$)*\$\{?([A-Za-z_]\w*)(:?\?)?/g))
    names.set(name, (names.get(name) ?? false) || operator !== undefined)
  return names
}

/** Returns the values of a shell for variables of `.env`. An empty value removes a variable, except a required one. */
export function givenVariables(env: NodeJS.ProcessEnv, folder = repository): Variables {
  const names = namesInFiles(folder)
  return select(env, (name) => {
    const isRequired = names.get(name) ?? name === project
    return (names.has(name) || name === project) && !(isRequired && env[name] === '')
  })
}

/** Returns the environment in which Compose reads variables only from `.env`. A shell would replace them for one command. */
export function composeEnvironment(env: NodeJS.ProcessEnv = process.env, folder = repository): NodeJS.ProcessEnv {
  const names = namesInFiles(folder)
  return select(env, (name) => !names.has(name) && !selectors.includes(name))
}

/**
 * Writes the variables of a shell to `.env`, so that later commands use them, too.
 * @throws {CliError} `still-running` if the stack runs with other values, `usage` for a value that `.env` cannot contain
 */
export function recordVariables(env: NodeJS.ProcessEnv, isRunning: boolean, folder = repository): void {
  if (isRunning) requireRecorded(env, folder)
  const text = readFileSync(envFile(folder), 'utf8')
  const known = parseEnv(text)
  const changed = Object.entries(givenVariables(env, folder)).filter(([name, value]) => value !== (known[name] ?? ''))
  if (changed.length === 0) return
  const lines = changed.map(([name, value]) => [name, quoted(name, value)] as const)
  replaceFile(envFile(folder), withVariables(text, Object.fromEntries(lines)), 0o600)
}

/** @throws {CliError} `still-running` if a shell has another value for a variable of `.env` */
export function requireRecorded(env: NodeJS.ProcessEnv, folder = repository): void {
  requireSameVariables(parseEnv(readFileSync(envFile(folder), 'utf8')), givenVariables(env, folder))
}

/** Returns a value for `.env` in the form that both Compose and Node read unchanged. */
function quoted(name: string, value: string): string {
  if (/^[\w./:@,+-]*$/.test(value)) return value
  if (!/['\n\r]/.test(value)) return `'${value}'`
  throw new CliError('usage', `the value of ${name} has a quote or a line break`, {
    nextStep: `write ${name} into .env, in the syntax of Docker Compose`,
  })
}
