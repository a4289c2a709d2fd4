import type { Right } from './rights.ts'
import { transactionDenialOptions } from './transactions.ts'

const operations = { read: 'Read', write: 'Write', describe: 'Describe', describeConfigs: 'DescribeConfigs' } as const

/**
 * The commands of Kafka's own tool that give these rights, one for each user, resource and name. Kafka lets who may read or write a topic
 * also see that it is there.
 */
export function aclCommands(rights: readonly Right[]): string[] {
  const byTarget = Map.groupBy(
    rights,
    ({ user, resource, name }) => `--allow-principal User:${user} --${resource} ${name}`,
  )
  return [...byTarget].map(([target, all]) => {
    const allowed = all.map(({ operation }) => `--operation ${operations[operation]}`).join(' ')
    return aclCommand(`${target} ${allowed}`)
  })
}

/** The command of Kafka's own tool that denies transactions to every user. */
export const denyTransactionsCommand = () => aclCommand(transactionDenialOptions)

const aclCommand = (options: string) =>
  `kafka-acls.sh --bootstrap-server "$Stream__Brokers" --command-config admin.properties --add ${options}`
