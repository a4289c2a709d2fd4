import { join } from 'node:path'
import { localFolder, repository } from '../application/paths.ts'
import { entryOf, localPorts, operateProgram, type Service } from '../application/services.ts'
import { withoutVariables } from '../application/variables.ts'
import { runInTerminal } from '../base/run-tool.ts'
import { createPlan, type Plan, requireOwnSettings } from './plan.ts'
import { askVariables, processSpecs } from './process/spec.ts'

/** Runs an operator's command with the settings of a service of this stack. Returns the exit code. */
export async function operateHere(service: Service, args: string[]): Promise<number> {
  requireOwnSettings()
  const plan = await createPlan(localFolder, localPorts())
  return operateWith(plan, service, args, askVariables(plan))
}

/**
 * Runs an operator's command for the Kafka of another stack. Returns the exit code.
 * @param variables the settings of that stack
 * @param kafka the settings of section `Stream`, which replace those of a stack of processes
 */
export async function operateElsewhere(
  service: Service,
  args: string[],
  { variables, kafka }: Record<'variables' | 'kafka', Record<string, string>>,
): Promise<number> {
  const plan = { ...(await createPlan(localFolder, localPorts())), variables }
  return operateWith(plan, service, args, kafka)
}

function operateWith(plan: Plan, { name, folder }: Service, args: string[], variables: Record<string, string>): number {
  const { env } = entryOf(processSpecs(plan), name)
  const program = join(repository, folder, operateProgram)
  return runInTerminal(process.execPath, [program, ...args], { ...withoutVariables(process.env), ...env, ...variables })
}
