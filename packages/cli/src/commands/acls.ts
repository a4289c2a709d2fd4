import { aclCommands, denyTransactionsCommand } from '../kafka/acl-commands.ts'
import { publisherRights, serviceRights } from '../kafka/rights.ts'
import { nameProblem } from '../kafka/users.ts'
import { StackError } from '../lib/error.ts'
import { services } from '../lib/services.ts'
import { print } from '../lib/terminal.ts'

/**
 * `./orderflow acls`: what to run at a Kafka that others administer, for all services, or for the application outside that is named. Transactions
 * are denied once, to all users.
 * @throws {StackError} `usage` for a name that no such application can have
 */
export function acls(name: string | undefined): void {
  const problem = name === undefined ? undefined : nameProblem(name)
  if (problem) throw new StackError('usage', `${name}: ${problem}`, { nextStep: './orderflow acls legacy' })
  const rights = name === undefined ? services.flatMap(serviceRights) : publisherRights(name)
  for (const command of aclCommands(rights)) print(command)
  // For the whole Kafka: an application that comes later needs it no more than its own right.
  if (name === undefined) print(denyTransactionsCommand())
}
