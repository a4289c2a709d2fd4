import { docker } from '@orderflow/cli'
import { expect } from 'chai'
import { operatorCommands } from '../specs/commands.ts'
import type { RunningContainers } from './running-containers.ts'

/** The commands of an operator, of which the last remove the stack, and what is left of it at the engine. */
export function commands(running: () => RunningContainers): void {
  describe('the commands', () => {
    operatorCommands(running)

    describe('when make down and ./orderflow clean have ended', () => {
      for (const kind of ['container', 'network', 'volume']) {
        it(`have left no ${kind}`, async () => {
          const all = kind === 'container' ? ['--all'] : []
          const own = `label=com.docker.compose.project=${running().project}`
          expect(await docker(kind, 'ls', '--quiet', ...all, '--filter', own)).to.equal('')
        })
      }
    })
  })
}
