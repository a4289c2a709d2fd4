import { kills, reacting, rebuilds, serviceSpecs, startTestStack, type TestStack, testedServices } from '@orderflow/test-kit'

const services = await testedServices()

describe('the services of this application', () => {
  let running: TestStack
  before(async function () {
    // The first start on a machine downloads or builds programs or images, which takes minutes.
    this.timeout(0)
    running = await startTestStack()
  })
  after(() => running?.stop())
  const stack = () => running
  const operator = () => running.operator

  for (const service of services) serviceSpecs(service, stack, operator)
  kills(reacting(services), stack)
  rebuilds(reacting(services), stack, operator)
})
