import { CliError } from '@orderflow/stack/base'

/**
 * Reads positive numbers from an environment variable, separated by spaces.
 * @throws {CliError} `usage` with the variable’s name
 */
export function numbersFrom(variable: string, fallback: string, env: NodeJS.ProcessEnv = process.env): number[] {
  const text = env[variable] || fallback
  const numbers = text.trim().split(/\s+/).map(Number)
  if (numbers.every((value) => value > 0 && Number.isFinite(value))) return numbers
  throw new CliError('usage', `${variable}=${text} is not a list of positive numbers`, {
    nextStep: `${variable}="${fallback}", or leave it out`,
  })
}
