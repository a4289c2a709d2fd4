import { activeRunner, serviceNamed } from '@orderflow/stack'
import type { Command } from '../../command-line.ts'

/** Reads the log for the ids of entities, and changes their documents through the service's sidecar. */
export const command: Command = {
  parameters: 'SERVICE',
  run: async ({ args: [name] }) => await (await activeRunner()).operate(serviceNamed(name), ['deadlines']),
}
