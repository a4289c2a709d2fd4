import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect } from 'chai'
import { repository } from '../../src/application/paths.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

describe('the start program of a release image', () => {
  after(removeFolders)

  /** Runs the program with a service and a sidecar that only show their arguments. The service ends with a status. */
  function start(args: string[], status: number) {
    const folder = temporaryFolder()
    const scripts = {
      node: `case "$*" in *settings.ts) exit;; esac\necho "service: $*"\nexit ${status}`,
      daprd: 'echo sidecar\nexec sleep 30',
    }
    for (const [name, script] of Object.entries(scripts)) {
      writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`)
      chmodSync(join(folder, name), 0o755)
    }
    const service = join(folder, 'payment-service')
    mkdirSync(service)
    return spawnSync(join(repository, 'packages/stack/templates/release-image/start'), args, {
      cwd: service,
      encoding: 'utf8',
      env: { PATH: `${folder}${delimiter}${process.env.PATH}`, State__Store: 'statestore' },
    })
  }

  it('ends with an error if the service ends', () => {
    const { status, stdout, stderr } = start([], 0)
    expect(stdout).to.contain('src/main.ts\n')
    expect([status, stderr]).to.deep.equal([1, 'error: the service ended unexpectedly (0)\n'])
  })

  it('runs an operator’s command in place of the service, and ends with its status', () => {
    for (const expected of [0, 3]) {
      const { status, stdout, stderr } = start(['rebuild', '--when-stopped'], expected)
      expect(stdout).to.contain('src/operate.ts rebuild --when-stopped\n')
      expect([status, stderr]).to.deep.equal([expected, ''])
    }
  })
})
