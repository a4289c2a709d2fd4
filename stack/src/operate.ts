import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { StackError } from './error.ts'
import { localFolder, repository } from './paths.ts'
import { createPlan } from './plan.ts'
import { defaultPorts } from './ports.ts'
import { processSpecs } from './process-spec.ts'

const services = ['order-service', 'payment-service'] as const

/**
 * Runs a service's `src/operate.ts` with the settings that the service has in the stack of `make up`, and those of the
 * environment. Returns its exit code.
 */
export async function operate(service: string | undefined, args: string[]): Promise<number> {
  const name = services.find((known) => known === service)
  if (!name) {
    throw new StackError('usage', service ? `there is no service ${service}` : 'which service?', {
      nextStep: `SERVICE is one of ${services.join(', ')}`,
    })
  }
  const { env } = processSpecs(await createPlan(localFolder, defaultPorts))[name]
  const file = join(repository, name, 'src/operate.ts')
  const { status } = spawnSync(process.execPath, [file, ...args], {
    env: { ...process.env, ...env },
    stdio: 'inherit',
  })
  return status ?? 130
}
