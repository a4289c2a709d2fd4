import { eventually, testFolder } from '@orderflow/stack/base'
import { claimFolder, releaseFolder, startProcess } from '@orderflow/stack/internals'
import { expect } from 'chai'
import { processUse } from '../support/process-use.ts'

const folder = testFolder('bench-process-use')
/** Half a second of processor time, several times as much as the parent process needs. */
const work = 'while (process.cpuUsage().user < 500_000);'

describe('the processor time of a process', () => {
  before(() => claimFolder(folder))
  after(() => releaseFolder(folder))

  for (const [which, afterwards] of Object.entries({
    'that lives': 'setInterval(() => {}, 1_000)',
    'that has ended': '',
  })) {
    it(`includes the time of a child ${which}`, async () => {
      const name = which.replaceAll(' ', '-')
      const parent = `child_process.spawn(process.execPath, ['-e', '${work}${afterwards}']); setInterval(() => {}, 1_000)`
      startProcess(folder, { name, command: process.execPath, args: ['-e', parent], env: {}, ports: {} })
      const used = () => processUse(folder).find((use) => use.name === name)?.processorMs ?? 0
      await eventually(() => used() >= 500, `half a second of processor time of ${name}`)
    })
  }

  it('separates the time of the main thread from that of other threads', async () => {
    const name = 'threads'
    const worker = `new worker_threads.Worker(${JSON.stringify(work)}, { eval: true }); setInterval(() => {}, 1_000)`
    startProcess(folder, { name, command: process.execPath, args: ['-e', worker], env: {}, ports: {} })
    const use = () => processUse(folder).find((each) => each.name === name)
    await eventually(() => (use()?.processorMs ?? 0) >= 500, 'half a second of processor time')
    expect(use()?.mainThreadMs).to.be.below(250)
  })
})
