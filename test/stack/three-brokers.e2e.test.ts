import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { freePorts, type LocalStack, startStack } from '@orderflow/stack'
import { testFolder } from '@orderflow/stack/base'
import { dataFolder } from '@orderflow/stack/internals'
import { threeBrokers } from '../specs/faults/three-brokers.ts'

describe('a stack of processes with three brokers', function () {
  this.bail(true)
  let stack: LocalStack
  before(async function () {
    this.timeout(0)
    const servers = { store: 'sqlite', brokers: 3 } as const
    stack = await startStack({
      folder: testFolder('three-brokers'),
      ports: await freePorts(),
      servers,
      detached: false,
    })
  })
  after(() => stack?.stop())

  threeBrokers(() => stack, 'processes', {
    lose: async (broker) => {
      await stack.kill(broker)
      rmSync(join(dataFolder(stack.folder), broker), { recursive: true })
    },
    recover: (broker) => stack.restart(broker),
  })
})
