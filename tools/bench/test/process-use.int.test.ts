import { claimFolder, eventually, releaseFolder, startProcess, testFolder } from '@orderflow/cli'
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
})
