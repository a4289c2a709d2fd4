import { freePorts, type LocalStack, type StackPorts, startStack, testFolder } from '@orderflow/stack'
import { allSpecs } from './specs/all.ts'
import { deadLetterCommands } from './specs/dead-letter-commands.ts'
import { serviceSpecs } from './specs/every-service.ts'
import { rebuiltStores } from './specs/rebuild.ts'
import { localOperator } from './support/local-operator.ts'
import { testedServices } from './support/tested-services.ts'

const tested = await testedServices()

describe('as processes of one machine', () => {
  let ports: StackPorts
  let stack: LocalStack
  before(async function () {
    this.timeout(120_000)
    ports = await freePorts()
    stack = await startStack({ folder: testFolder('e2e'), ports, detached: false })
  })
  after(async function () {
    this.timeout(60_000)
    await stack?.stop()
  })

  const operator = () => localOperator(stack, ports)
  allSpecs(() => stack, operator)
  deadLetterCommands(
    () => stack,
    () => ports,
  )
  for (const service of tested) serviceSpecs(service, () => stack, operator)
  rebuiltStores(() => stack, operator)
})
