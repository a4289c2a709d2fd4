import { operateDeadLetters } from '@orderflow/stack/operate'
import type { Command } from '../../command-line.ts'
import { insideOptions } from '../../near-kafka.ts'

export const command: Command = {
  parameters: '[list|show|replay] [ID|GROUP|all]',
  options: {
    values: { summary: 'also show personal data' },
    'dry-run': { summary: 'replay: show the effects without publishing' },
    edit: { summary: 'replay one event after editing it in $EDITOR' },
    file: { value: 'FILE', summary: 'replay one event with the content of this file' },
    attempt: {
      value: 'POSITION',
      summary: 'replay only if the newest failed attempt is the record at this position',
    },
    contradict: { summary: 'replay an edit even if it contradicts the data of a service' },
  },
  run({ all, text, flag, signal }) {
    const file = text('file')
    const inside = () => insideOptions(file, signal())
    return operateDeadLetters(all, { file, isEdited: flag('edit') ?? false, inside })
  },
}
