import { runningRunner, services } from '@orderflow/stack'
import { CliError, timed } from '@orderflow/stack/base'
import type { Command } from '../../command-line.ts'

export const command: Command = {
  parameters: 'SERVICE N',
  async run({ args: [service = '', times = ''], signal }) {
    const runner = await runningRunner()
    if (!runner?.scale) {
      throw new CliError('not-running', 'replicas need a stack in containers or in Kubernetes, which is not running', {
        nextStep: 'make up STACK=docker or STACK=kubernetes',
      })
    }
    const count = /^[1-9]\d?$/.test(times) ? Number(times) : undefined
    const names = services.map(({ name }) => name)
    if (!names.includes(service) || !count) {
      throw new CliError('usage', `scale ${service} ${times}: SERVICE is ${names.join(' or ')}, N is 1 to 99`, {
        nextStep: `./orderflow scale ${names.at(-1)} 3`,
      })
    }
    await runner.scale(service, count, { onProgress: timed(), signal: signal() })
  },
}
