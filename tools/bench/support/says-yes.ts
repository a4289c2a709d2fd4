import { meansYes } from '@orderflow/service-kit/setup'
import { CliError } from '@orderflow/stack/base'

/**
 * Returns false if the variable is missing or means no.
 * @throws {CliError} `usage` for any other value
 */
export function saysYes(env: NodeJS.ProcessEnv, name: string): boolean {
  const isYes = meansYes(env[name] ?? '')
  if (isYes !== undefined) return isYes
  throw new CliError('usage', `${name} (${env[name]}) must mean yes or no`, {
    nextStep: `${name}=1 or ${name}=0`,
  })
}
