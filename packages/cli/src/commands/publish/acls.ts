import { services } from '@orderflow/stack'
import { CliError, print } from '@orderflow/stack/base'
import {
  aclCommands,
  denyTransactionsCommand,
  nameProblem,
  publisherRights,
  serviceRights,
} from '@orderflow/stack/operate'
import type { Command } from '../../command-line.ts'

export const command: Command = {
  parameters: '[NAME]',
  more: 'NAME is the name of an outside publisher, for example legacy. With NAME, only the rights of this publisher are printed.',
  async run({ args: [name] }) {
    const problem = name === undefined ? undefined : nameProblem(name)
    if (problem) throw new CliError('usage', `${name}: ${problem}`, { nextStep: './orderflow acls legacy' })
    const rights = name === undefined ? services.flatMap(serviceRights) : publisherRights(name)
    for (const line of aclCommands(rights)) print(line)
    // This rule applies to all users of Kafka, not to one publisher.
    if (name === undefined) print(denyTransactionsCommand())
  },
}
