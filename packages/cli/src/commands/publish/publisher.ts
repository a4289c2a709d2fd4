import { join } from 'node:path'
import type { KafkaConnection } from '@orderflow/kafka-log'
import { table } from '@orderflow/service-kit/setup'
import { isInside, outsideTopics, requireKafka } from '@orderflow/stack'
import { CliError, localFolder, newSecret, print, replaceFile } from '@orderflow/stack/base'
import { nameProblem, readPublishers, removePublisher, setPublisher } from '@orderflow/stack/operate'
import type { Command, Given } from '../../command-line.ts'
import { nearKafka } from '../../near-kafka.ts'

export const command: Command = {
  parameters: '[NAME]',
  options: { rotate: { summary: 'set a new password' }, remove: { summary: 'remove the user' } },
  run: nearKafka('publisher', publisher),
}

/** Lists all users if there is no name. */
async function publisher({ args: [name], flag }: Given): Promise<void> {
  const [rotate, remove] = [flag('rotate') ?? false, flag('remove') ?? false]
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
