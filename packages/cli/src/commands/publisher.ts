import { join } from 'node:path'
import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import { table } from '@orderflow/service-kit/terminal'
import { aclCommands, denyTransactionsCommand, readPublishers, removePublisher, setPublisher } from '../kafka/access.ts'
import { nameProblem, publisherRights, serviceRights } from '../kafka/rights.ts'
import { newSecret } from '../lib/credentials.ts'
import { CliError } from '../lib/error.ts'
import { replaceFile } from '../lib/files.ts'
import { localFolder } from '../lib/paths.ts'
import { outsideTopics, services } from '../lib/services.ts'
import { print } from '../lib/terminal.ts'
import { requireRunning } from './runners.ts'

/** The certificate for clients that take it as a file. It is not a secret. */
const certificateFile = join(localFolder, 'docker/kafka.crt')

/**
 * `./orderflow publisher`: makes the user of an outside application and prints the settings of its Kafka client. `rotate` gives it another
 * password, `remove` removes it, and without a name all are listed. Without authentication at Kafka it prints that.
 * @throws {CliError} `usage` for a name that will not do, is taken, or that nobody has; `not-running`
 */
export async function publisher(
  name: string | undefined,
  { rotate, remove }: { rotate: boolean; remove: boolean },
): Promise<void> {
  const problem = name === undefined ? undefined : nameProblem(name)
  if (problem) throw new CliError('usage', `${name}: ${problem}`, { nextStep: './orderflow publisher legacy' })
  const { kafka } = await requireRunning(['kafka'])
  if (!kafka.sasl) return printOpen(kafka)
  const publishers = await readPublishers(kafka)
  if (name === undefined) return printAll(publishers)
  requireKnown(name, publishers, rotate || remove)
  if (remove) {
    await removePublisher(kafka, name)
    return print(`${name} is gone, and whatever still uses its password is refused`)
  }
  const password = newSecret()
  await setPublisher(kafka, name, password)
  printClient(name, password, kafka)
}

function requireKnown(name: string, publishers: string[], isWanted: boolean): void {
  const isKnown = publishers.includes(name)
  if (isKnown === isWanted) return
  if (isKnown) {
    throw new CliError('usage', `${name} is there already, and its password is shown once only`, {
      nextStep: `./orderflow publisher ${name} --rotate gives it another one, which its application must be given, too`,
    })
  }
  throw new CliError('usage', `there is no publisher ${name}`, {
    nextStep: `./orderflow publisher ${name} makes it, ./orderflow publisher lists all`,
  })
}

function printOpen({ bootstrapBrokers }: KafkaConnection): void {
  print(
    `Kafka at ${bootstrapBrokers.join()} does not authenticate clients: without containers every program of this machine may publish.`,
  )
  print('In containers (make up STACK=docker) each application outside has a user of its own.')
}

function printAll(publishers: string[]): void {
  for (const name of publishers) print(name)
  if (publishers.length === 0) print('no application outside has a user; ./orderflow publisher legacy makes one')
}

function printClient(name: string, password: string, { bootstrapBrokers, tls }: KafkaConnection): void {
  replaceFile(certificateFile, tls?.ca ?? '')
  const brokers = bootstrapBrokers.join()
  const settings = [
    ['bootstrap.servers', brokers],
    ['security.protocol', 'SASL_SSL'],
    ['sasl.mechanism', 'SCRAM-SHA-512'],
    ['sasl.username', name],
    ['sasl.password', password],
    ['ssl.ca.location', certificateFile],
  ]
  print(`${name} may write ${outsideTopics.join()}, and nothing else. The password is shown only once.`)
  print()
  for (const line of table(settings)) print(line)
  print()
  print('With kcat, once the password is in PASSWORD:')
  print(
    `  kcat -b ${brokers} -X security.protocol=SASL_SSL -X sasl.mechanism=SCRAM-SHA-512 -X sasl.username=${name} \\`,
  )
  print(`    -X sasl.password="$PASSWORD" -X ssl.ca.location=${certificateFile} -P -t ${outsideTopics[0]} event.json`)
  print('next: docs/publishing.md says what to write there')
}

/**
 * `./orderflow acls`: what to run at a Kafka that others administer, for all services, or for the application outside that is named. Transactions
 * are denied once, to all users.
 * @throws {CliError} `usage` for a name that no such application can have
 */
export function acls(name: string | undefined): void {
  const problem = name === undefined ? undefined : nameProblem(name)
  if (problem) throw new CliError('usage', `${name}: ${problem}`, { nextStep: './orderflow acls legacy' })
  const rights = name === undefined ? services.flatMap(serviceRights) : publisherRights(name)
  for (const command of aclCommands(rights)) print(command)
  // For the whole Kafka: an application that comes later needs it no more than its own right.
  if (name === undefined) print(denyTransactionsCommand())
}
