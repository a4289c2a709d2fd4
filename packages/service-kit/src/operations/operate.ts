import { createParts } from '../runtime/create-app.ts'
import type { ServiceDefinition } from '../runtime/define-service.ts'
import { failureText } from '../runtime/run.ts'
import { readSettings } from '../runtime/settings.ts'
import { createSidecar } from '../sidecar/dapr-sidecar.ts'
import { createDocuments } from '../state/documents.ts'
import { momentOf } from '../stream/record.ts'
import { createLog } from '../telemetry/log.ts'
import { readTrust } from '../trust/read-trust.ts'
import { deadLettersCommand } from './dead-letters/command.ts'
import { kafkaConnection } from './kafka-connection.ts'
import { OperationError } from './operation-error.ts'
import { rebuildCommand } from './rebuild-command.ts'

const usage = 'rebuild or dead-letters'

/**
 * Runs what an operator asks of a service's log and store, with the settings of the service:
 * `node src/operate.ts rebuild ...` or `node src/operate.ts dead-letters ...`.
 */
export async function operate<S extends object>(service: ServiceDefinition<S>): Promise<void> {
  // A reader that leaves early (| head) must not end a command in the middle of its work.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
  try {
    process.exitCode = await command(service, process.argv.slice(2))
  } catch (error) {
    const isExpected = error instanceof OperationError
    process.stderr.write(`error: ${isExpected ? error.message : failureText(error)}\n`)
    if (isExpected && error.nextStep) process.stderr.write(`next: ${error.nextStep}\n`)
    process.exitCode = 1
  }
}

async function publishesNothing(): Promise<void> {
  throw new Error('a rebuild publishes nothing')
}

async function command<S extends object>(service: ServiceDefinition<S>, [name, ...args]: string[]): Promise<number> {
  const settings = readSettings(service, process.env)
  const kafka = kafkaConnection(settings.Stream)
  const trust = readTrust(service.root, settings.Trust)
  const positionIdsBefore = momentOf(settings.Stream.PositionIdsBefore)
  if (name === 'dead-letters') return await deadLettersCommand(args, kafka, { trust, positionIdsBefore })
  if (name !== 'rebuild') throw new OperationError(`unknown command ${name ?? '(none)'}`, { nextStep: usage })
  const now = () => new Date()
  const { rebuild } = createParts(service, {
    settings,
    log: createLog(settings.App.Name, 'silent'),
    publish: publishesNothing,
    forward: publishesNothing,
    trust,
    documents: createDocuments(createSidecar(settings), now, settings.Auth.Mode !== 'closed'),
    now,
    newId: () => crypto.randomUUID(),
  })
  await rebuildCommand(args, {
    app: settings.App.Name,
    kafka,
    trust,
    positionIdsBefore,
    refusals: new Set(Object.keys(service.refusals)),
    rebuild,
  })
  return 0
}
