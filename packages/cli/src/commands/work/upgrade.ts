import type { Command } from '../../command-line.ts'
import { upgrade } from '../../upgrade/upgrade.ts'

export const command: Command = {
  parameters: '[FOLDER|VERSION]',
  more: 'FOLDER has the archives of the new packages. VERSION is for an application whose packages come from a registry (default: the newest).',
  run: ({ args: [asked] }) => upgrade(asked),
}
