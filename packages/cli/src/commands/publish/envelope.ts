import type { Command } from '../../command-line.ts'
import { become } from '../become.ts'

export const command: Command = {
  parameters: 'COMMAND',
  hasOwnHelp: true,
  run: ({ all }) => become('@orderflow/envelope/command', all.length > 0 ? all : ['--help']),
}
