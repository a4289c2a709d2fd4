import { docker } from '@orderflow/stack/machine'
import { expect } from 'chai'
import { operatorCommands } from '../specs/operations/commands.ts'
import type { RunningContainers } from './running-containers.ts'

/** Tests the operator’s commands. The last command removes the stack. */
export function commands(running: () => RunningContainers): void {
  describe('the operator’s commands in containers', () => {
    operatorCommands(running)

    describe('Docker after `make down` and `./orderflow clean`', () => {
      for (const kind of ['container', 'network', 'volume']) {
        it(`contains no ${kind} of the removed stack`, async () => {
          const all = kind === 'container' ? ['--all'] : []
          const own = `label=com.docker.compose.project=${running().project}`
          expect(await docker(kind, 'ls', '--quiet', ...all, '--filter', own)).to.equal('')
        })
      }
    })
  })
}
