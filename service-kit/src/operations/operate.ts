import { createParts } from '../runtime/create-app.ts'
import type { ServiceDefinition } from '../runtime/define-service.ts'
import { readSettings } from '../runtime/read-settings.ts'
import { SettingsError } from '../runtime/settings.ts'
import { createSidecar } from '../sidecar/sidecar.ts'
import { createDocuments } from '../state/documents.ts'
import { createLog } from '../telemetry/log.ts'
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
    if (!(error instanceof OperationError || error instanceof SettingsError)) throw error
    process.stderr.write(`error: ${error.message}\n`)
    if (error instanceof OperationError && error.nextStep) process.stderr.write(`next: ${error.nextStep}\n`)
    process.exitCode = 1
  }
}

async function command<S extends object>(service: ServiceDefinition<S>, [name, ...args]: string[]): Promise<number> {
  const settings = readSettings(service, process.env)
  const kafka = kafkaConnection(settings.Stream)
  if (name === 'dead-letters') return await deadLettersCommand(args, kafka)
  if (name !== 'rebuild') throw new OperationError(`unknown command ${name ?? '(none)'}`, { nextStep: usage })
  const now = () => new Date()
  const { rebuild } = createParts(service, {
    settings,
    log: createLog(settings.App.Name, 'silent'),
    publish: async () => {
      throw new Error('a rebuild publishes nothing')
    },
    documents: createDocuments(createSidecar(settings), now, settings.Auth.Mode !== 'closed'),
    now,
    newId: () => crypto.randomUUID(),
  })
  await rebuildCommand(args, {
    app: settings.App.Name,
    kafka,
    refusals: new Set(Object.keys(service.refusals)),
    rebuild,
  })
  return 0
}
