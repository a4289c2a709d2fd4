import { timed } from '@orderflow/stack/base'
import { provision, testToolsOf } from '@orderflow/stack/machine'
import type { Command } from '../../command-line.ts'

export const command: Command = {
  parameters: '[TOOL...]',
  more: 'TOOL is browser, jaeger or prometheus.',
  run: ({ args, signal }) => provision({ onProgress: timed(), tests: testToolsOf(args), signal: signal() }),
}
