import { generate } from '@orderflow/stack/generate'
import type { Command } from '../../command-line.ts'

export const command: Command = { run: generate }
