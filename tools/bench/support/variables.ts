import { CliError } from '@orderflow/stack/base'

/**
 * Reads positive numbers from an environment variable, separated by spaces.
 * @throws {CliError} `usage` with the variable’s name
 */
export function numbersFrom(variable: string, fallback: string, env: NodeJS.ProcessEnv = process.env): number[] {
  return listFrom(variable, fallback, env, 'positive numbers', (value) => value > 0)
}

/** Reads numbers like `numbersFrom`, and also accepts zero. */
export function delaysFrom(variable: string, fallback: string, env: NodeJS.ProcessEnv = process.env): number[] {
  return listFrom(variable, fallback, env, 'numbers, 0 or more', (value) => value >= 0)
}

function listFrom(
  variable: string,
  fallback: string,
  env: NodeJS.ProcessEnv,
  kind: string,
  isRight: (value: number) => boolean,
): number[] {
  const text = env[variable] || fallback
  const numbers = text.trim().split(/\s+/).map(Number)
  if (numbers.every((value) => isRight(value) && Number.isFinite(value))) return numbers
  throw new CliError('usage', `${variable}=${text} is not a list of ${kind}`, {
    nextStep: `${variable}="${fallback}", or leave it out`,
  })
}
