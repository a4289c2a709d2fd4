import { join } from 'node:path'
import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import { table } from '@orderflow/service-kit/terminal'
import { aclCommands, denyTransactionsCommand, readPublishers, removePublisher, setPublisher } from '../kafka/access.ts'
import { nameProblem, publisherRights, serviceRights } from '../kafka/rights.ts'
import { isInside } from '../kubernetes/addresses.ts'
import { newSecret } from '../lib/credentials.ts'
import { CliError } from '../lib/error.ts'
import { replaceFile } from '../lib/files.ts'
import { localFolder } from '../lib/paths.ts'
import { outsideTopics, services } from '../lib/services.ts'
import { print } from '../lib/terminal.ts'
import { requireKafka } from './runners.ts'

/**
 * Runs `./orderflow publisher`. Without a name it lists all users.
 * @throws {CliError} `usage` for an invalid, used or unknown name; `not-running` if Kafka is stopped
 */
export async function publisher(
  name: string | undefined,
  { rotate, remove }: { rotate: boolean; remove: boolean },
): Promise<void> {
  const problem = name === undefined ? undefined : nameProblem(name)
  if (problem) throw new CliError('usage', `${name}: ${problem}`, { nextStep: './orderflow publisher legacy' })
  const { kafka } = await requireKafka()
  if (!kafka.sasl) return printOpen(kafka)
  const publishers = await readPublishers(kafka)
  if (name === undefined) return printAll(publishers)
  requireKnown(name, publishers, rotate || remove)
  if (remove) {
    await removePublisher(kafka, name)
    return print(`${name} is removed; Kafka refuses clients with its password`)
  }
  const password = newSecret()
  await setPublisher(kafka, name, password)
  printClient(name, password, kafka)
}

function requireKnown(name: string, publishers: string[], isWanted: boolean): void {
  const isKnown = publishers.includes(name)
  if (isKnown === isWanted) return
  if (isKnown) {
    throw new CliError('usage', `${name} already exists, and its password is shown only once`, {
      nextStep: `./orderflow publisher ${name} --rotate sets a new password, which the application then needs`,
    })
  }
  throw new CliError('usage', `unknown publisher ${name}`, {
    nextStep: `./orderflow publisher ${name} creates it, ./orderflow publisher lists all`,
  })
}

function printOpen({ bootstrapBrokers }: KafkaConnection): void {
  print(
    `Kafka at ${bootstrapBrokers.join()} runs as a process and does not authenticate clients: every program on this machine may publish.`,
  )
  print('In containers (make up STACK=docker) each outside publisher has its own user.')
}

function printAll(publishers: string[]): void {
  for (const name of publishers) print(name)
  if (publishers.length === 0) print('no outside publishers; ./orderflow publisher legacy creates one')
}

function printClient(name: string, password: string, { bootstrapBrokers, tls }: KafkaConnection): void {
  const certificate = tls?.ca ?? ''
  // The files of a pod are read-only, and disappear with it.
  const certificateFile = isInside() ? 'kafka.crt' : join(localFolder, 'docker/kafka.crt')
  if (!isInside()) replaceFile(certificateFile, certificate)
  const brokers = bootstrapBrokers.join()
  const settings = [
    ['bootstrap.servers', brokers],
    ['security.protocol', 'SASL_SSL'],
    ['sasl.mechanism', 'SCRAM-SHA-512'],
    ['sasl.username', name],
    ['sasl.password', password],
    ['ssl.ca.location', certificateFile],
  ]
  print(`${name} may write only ${outsideTopics.join()}. The password is shown only once.`)
  print()
  for (const line of table(settings)) print(line)
  print()
  print('With kcat, after setting the variable PASSWORD to the password:')
  print(
    `  kcat -b ${brokers} -X security.protocol=SASL_SSL -X sasl.mechanism=SCRAM-SHA-512 -X sasl.username=${name} \\`,
  )
  print(`    -X sasl.password="$PASSWORD" -X ssl.ca.location=${certificateFile} -P -t ${outsideTopics[0]} event.json`)
  if (isInside() && certificate)
    print(`\nThe certificate authority of Kafka, which is not a secret, for ${certificateFile}:\n${certificate}`)
  print('next: see docs/publishing.md for the format of events')
}

/** Runs `./orderflow acls`: prints the rights of all services or of one outside publisher. */
export function acls(name: string | undefined): void {
  const problem = name === undefined ? undefined : nameProblem(name)
  if (problem) throw new CliError('usage', `${name}: ${problem}`, { nextStep: './orderflow acls legacy' })
  const rights = name === undefined ? services.flatMap(serviceRights) : publisherRights(name)
  for (const command of aclCommands(rights)) print(command)
  // This rule applies to all users of Kafka, not to one publisher.
  if (name === undefined) print(denyTransactionsCommand())
}
