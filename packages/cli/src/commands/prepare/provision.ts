import { timed } from '@orderflow/stack/base'
import { provision } from '@orderflow/stack/machine'
import type { Command } from '../../command-line.ts'

export const command: Command = {
  parameters: '[TOOL...]',
  more: 'TOOL is browser, jaeger or prometheus.',
  run: ({ args, signal }) => provision({ onProgress: timed(), tests: args, signal: signal() }),
}
