import { freePorts, type StackPorts, startStack, testFolder } from '@orderflow/stack'
import { deadLetterCommands } from './specs/dead-letter-commands.ts'
import { deadLetters } from './specs/dead-letters.ts'
import { hostilePublishers } from './specs/hostile-records.ts'
import { rebuiltStores } from './specs/rebuild.ts'

describe('an operator’s stack', () => {
  let ports: StackPorts
  let stack: Awaited<ReturnType<typeof startStack>>
  before(async function () {
    this.timeout(120_000)
    ports = await freePorts()
    stack = await startStack({ folder: testFolder('operations'), ports, detached: false })
  })
  after(async function () {
    this.timeout(60_000)
    await stack?.stop()
  })

  describe('dead letters', () => deadLetters(() => stack))
  describe('dead letters on the command line', () =>
    deadLetterCommands(
      () => stack,
      () => ports,
    ))
  describe('hostile publishers', () => hostilePublishers(() => stack))
  describe('stores', () =>
    rebuiltStores(
      () => stack,
      () => ports,
    ))
})
