import { StackError } from '@orderflow/stack'

/** Positive numbers from an environment variable, separated by spaces. @throws {StackError} `usage` naming the variable */
export function numbersFrom(variable: string, fallback: string, env: NodeJS.ProcessEnv = process.env): number[] {
  const text = env[variable] || fallback
  const numbers = text.trim().split(/\s+/).map(Number)
  if (numbers.every((value) => value > 0 && Number.isFinite(value))) return numbers
  throw new StackError('usage', `${variable}=${text} is not a list of positive numbers`, {
    nextStep: `${variable}="${fallback}", or leave it out`,
  })
}
