import { activeRunner, serviceNamed, storedServices } from '@orderflow/stack'
import { CliError } from '@orderflow/stack/base'
import type { Command } from '../../command-line.ts'

/** Rebuilds through the service's sidecar. */
export const command: Command = {
  parameters: 'SERVICE',
  options: {
    topic: { value: 'TOPIC', summary: 'read only this topic' },
    from: { value: 'TIME', summary: 'read from this time on, such as 2026-11-21T10:00Z' },
    to: { value: 'TIME', summary: 'read up to this time' },
  },
  async run({ args: [name], text }) {
    const service = serviceNamed(name)
    if (!service.hasStore) {
      throw new CliError('usage', `${service.name} has no store to rebuild`, {
        nextStep: `SERVICE is one of ${storedServices.map((each) => each.name).join(', ')}`,
      })
    }
    const range = ['topic', 'from', 'to'].flatMap((option) => {
      const value = text(option)
      return value === undefined ? [] : [`--${option}`, value]
    })
    return await (await activeRunner()).operate(service, ['rebuild', ...range])
  },
}
