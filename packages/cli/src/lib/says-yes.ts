import { meansYes } from '@orderflow/service-kit/terminal'
import { StackError } from './error.ts'

/**
 * Whether a variable, which may be left out, says yes.
 * @throws {StackError} `usage` when it says neither yes nor no
 */
export function saysYes(env: NodeJS.ProcessEnv, name: string): boolean {
  const isYes = meansYes(env[name] ?? '')
  if (isYes !== undefined) return isYes
  throw new StackError('usage', `${name} (${env[name]}) is neither a yes nor a no`, {
    nextStep: `${name}=1 or ${name}=0`,
  })
}
