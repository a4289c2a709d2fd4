import { freePorts, type RunningStack, startStack, testFolder } from '@orderflow/stack'
import { allSpecs } from './specs/all.ts'

describe('as processes of one machine', () => {
  let stack: RunningStack
  before(async function () {
    this.timeout(120_000)
    stack = await startStack({ folder: testFolder('e2e'), ports: await freePorts(), detached: false })
  })
  after(async function () {
    this.timeout(60_000)
    await stack?.stop()
  })

  allSpecs(() => stack)
})
