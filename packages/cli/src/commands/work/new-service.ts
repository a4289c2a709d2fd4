import { newService } from '@orderflow/stack/generate'
import type { Command } from '../../command-line.ts'
import { npmInstall } from '../../upgrade/run.ts'

export const command: Command = {
  parameters: 'NAME',
  options: {
    event: {
      value: 'NAME',
      summary: 'the event that the service reacts to (default: the first event of `answers` in services.json)',
    },
  },
  run: ({ args: [name = ''], text, signal }) => newService(name, text('event'), npmInstall, signal()),
}
