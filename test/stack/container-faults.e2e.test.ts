import { reacting, rebuilds, testedServices } from '@orderflow/test-kit'
import { describeInContainers } from '../containers/available.ts'
import { commands } from '../containers/commands.ts'
import { replicas } from '../containers/replicas.ts'
import { type RunningContainers, startCheckout } from '../containers/running-containers.ts'
import { storeOfContainers } from '../containers/store.ts'
import { survival } from '../containers/survival.ts'
import { rebuiltStores } from '../specs/operations/rebuild.ts'

const tested = reacting(await testedServices())

describeInContainers('faults and replicas in containers', () => {
  let started: RunningContainers | undefined
  before(async () => {
    started = await startCheckout()
  })
  after(async () => {
    await started?.stop()
  })
  const stack = () => started as RunningContainers
  const operator = () => stack().operator

  // Tests that become slower with a larger log run first, and tests that stop the stack run last.
  rebuilds(tested, stack, operator)
  rebuiltStores(stack, operator)
  describe('a store on a database server', () => storeOfContainers(stack))
  survival(stack)
  replicas(stack)
  commands(stack)
})
