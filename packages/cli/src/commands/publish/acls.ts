import { CliError, print } from '@orderflow/stack/base'
import { grantingCommands, nameProblem } from '@orderflow/stack/operate'
import type { Command } from '../../command-line.ts'

export const command: Command = {
  parameters: '[NAME]',
  more: 'NAME is the name of an outside publisher, for example legacy. With NAME, only the rights of this publisher are printed.',
  async run({ args: [name] }) {
    const problem = name === undefined ? undefined : nameProblem(name)
    if (problem) throw new CliError('usage', `${name}: ${problem}`, { nextStep: './orderflow acls legacy' })
    for (const line of grantingCommands(name)) print(line)
  },
}
