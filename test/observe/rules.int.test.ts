import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { promtool, promtoolFile } from '@orderflow/programs'
import { repository } from '@orderflow/stack/base'
import { provisionTools } from '@orderflow/stack/internals'
import { expect } from 'chai'

const folder = join(repository, 'components/observe')

/** Runs promtool and returns its output. Throws if promtool fails. */
async function run(...args: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(promtoolFile(), args, { cwd: folder })
  return stdout + stderr
}

describe('components/observe', () => {
  before(async function () {
    // The first build of promtool takes minutes.
    this.timeout(20 * 60_000)
    await provisionTools([promtool()], { onProgress: () => {} })
  })

  it('fires each alert only under its conditions', async () => {
    expect(await run('test', 'rules', '../../packages/stack/test/observe/alerts.test.yml')).to.contain('SUCCESS')
  })

  it('contains rules that pass Prometheus’ checks', async () => {
    expect(await run('check', 'rules', '--lint=all', '--lint-fatal', 'alerts.yml')).to.contain('SUCCESS')
  })

  it('contains a configuration for containers that passes Prometheus’ checks', async () => {
    expect(await run('check', 'config', '--lint=all', '--lint-fatal', 'prometheus.yml')).to.contain('SUCCESS')
  })
})
