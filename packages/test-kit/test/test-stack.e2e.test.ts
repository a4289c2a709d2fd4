import { reacting, rebuilds, startTestStack, type TestStack, testedServices } from '../src/index.ts'

const services = reacting(await testedServices())

describe('a test stack', () => {
  const { STACK } = process.env
  let running: TestStack
  before(async () => {
    process.env.STACK = 'local'
    running = await startTestStack()
  })
  after(async () => {
    if (STACK === undefined) delete process.env.STACK
    else process.env.STACK = STACK
    await running?.stop()
  })

  rebuilds(
    services,
    () => running,
    () => running.operator,
  )
})
