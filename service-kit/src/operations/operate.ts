import { type BaseSettings, SettingsError } from '../runtime/settings.ts'
import { createSidecar, type Sidecar } from '../sidecar/sidecar.ts'
import { deadLettersCommand } from './dead-letters/command.ts'
import { kafkaConnection } from './kafka-connection.ts'
import { OperationError } from './operation-error.ts'
import type { RebuildReactions } from './rebuild.ts'
import { rebuildCommand } from './rebuild-command.ts'

export interface RebuildDependencies<S extends BaseSettings> {
  settings: S
  sidecar: Sidecar
  now: () => Date
}

/** What is to be known of a service to operate it. */
export interface Operable<S extends BaseSettings> {
  readSettings: (env: NodeJS.ProcessEnv) => S
  /** What the service rebuilds its store from, by topic, in the order in which the topics are read. */
  rebuildFrom: (dependencies: RebuildDependencies<S>) => Record<string, RebuildReactions>
}

const usage = 'rebuild or dead-letters'

/**
 * Runs what an operator asks of a service's log and store, with the settings of the service:
 * `node src/operate.ts rebuild ...` or `node src/operate.ts dead-letters ...`.
 */
export async function operate<S extends BaseSettings>(service: Operable<S>): Promise<void> {
  // A reader that leaves early (| head) must not end a command in the middle of its work.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
  try {
    process.exitCode = await run(service, process.argv.slice(2))
  } catch (error) {
    if (!(error instanceof OperationError || error instanceof SettingsError)) throw error
    process.stderr.write(`error: ${error.message}\n`)
    if (error instanceof OperationError && error.nextStep) process.stderr.write(`next: ${error.nextStep}\n`)
    process.exitCode = 1
  }
}

async function run<S extends BaseSettings>(
  { readSettings, rebuildFrom }: Operable<S>,
  [command, ...args]: string[],
): Promise<number> {
  const settings = readSettings(process.env)
  const kafka = kafkaConnection(settings.Stream)
  switch (command) {
    case 'rebuild': {
      const reactions = rebuildFrom({ settings, sidecar: createSidecar(settings), now: () => new Date() })
      await rebuildCommand(args, { app: settings.App.Name, kafka, reactions })
      return 0
    }
    case 'dead-letters':
      return await deadLettersCommand(args, kafka)
    default:
      throw new OperationError(`unknown command ${command ?? '(none)'}`, { nextStep: usage })
  }
}
