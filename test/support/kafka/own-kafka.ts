import { freePorts } from '@orderflow/stack'
import { testFolder } from '@orderflow/stack/base'
import { claimFolder, createPlan, ensureRunning, type Plan } from '@orderflow/stack/internals'
import { provision } from '@orderflow/stack/machine'

const quiet = { onProgress: () => {} }

// The first build of the programs takes minutes. It happens here, because only tests and hooks have time limits.
await provision(quiet)

/** Claims the folder of a test and plans a stack with free ports. `releaseFolder(testFolder(name))` stops the stack. */
export async function claimPlan(name: string): Promise<Plan> {
  const folder = testFolder(name)
  await claimFolder(folder)
  return createPlan(folder, await freePorts())
}

/** Starts only the Kafka of such a stack, with the topics of services.json. */
export async function startKafka(name: string): Promise<Plan> {
  const plan = await claimPlan(name)
  await ensureRunning(plan, ['kafka'], quiet)
  return plan
}
