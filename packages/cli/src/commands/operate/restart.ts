import { activeRunner, serviceNamed } from '@orderflow/stack'
import { timed } from '@orderflow/stack/base'
import type { Command } from '../../command-line.ts'

export const command: Command = {
  parameters: 'SERVICE',
  async run({ args: [name], signal }) {
    const service = serviceNamed(name)
    await (await activeRunner()).restart(service, { onProgress: timed(), signal: signal() })
  },
}
