import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { promtool, promtoolFile, provisionTools, repository } from '@orderflow/cli'
import { expect } from 'chai'

const folder = join(repository, 'packages/cli/observe')

/** What it printed; its exit says whether all was well. */
async function run(...args: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(promtoolFile(), args, { cwd: folder })
  return stdout + stderr
}

describe('packages/cli/observe', () => {
  before(async function () {
    // Building it takes minutes, once.
    this.timeout(20 * 60_000)
    await provisionTools([promtool()], { onProgress: () => {} })
  })

  it('has alerts that fire when they should, and only then', async () => {
    expect(await run('test', 'rules', '../test/observe/alerts.test.yml')).to.contain('SUCCESS')
  })

  it('has rules that Prometheus takes, and finds nothing to blame', async () => {
    expect(await run('check', 'rules', '--lint=all', '--lint-fatal', 'alerts.yml')).to.contain('SUCCESS')
  })

  it('has a configuration for containers that Prometheus takes', async () => {
    expect(await run('check', 'config', '--lint=all', '--lint-fatal', 'prometheus.yml')).to.contain('SUCCESS')
  })
})
