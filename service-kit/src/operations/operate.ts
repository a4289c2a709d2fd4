import type { EventName } from '@orderflow/envelope-schema'
import { type BaseSettings, SettingsError } from '../runtime/settings.ts'
import { createSidecar, type Sidecar } from '../sidecar/sidecar.ts'
import type { Handler } from '../stream/intake.ts'
import { deadLettersCommand } from './dead-letters/command.ts'
import { kafkaConnection } from './kafka-connection.ts'
import { OperationError } from './operation-error.ts'
import { replayCommand } from './replay-command.ts'

export interface ReplayDependencies<S extends BaseSettings> {
  settings: S
  sidecar: Sidecar
  now: () => Date
}

/** What a service rebuilds its store from, by topic. */
type CreateReplay<S extends BaseSettings> = (
  dependencies: ReplayDependencies<S>,
) => Record<string, Handler<EventName, boolean>>

const usage = 'replay or dead-letters'

/**
 * Runs what an operator asks of a service's log and store, with the settings of the service:
 * `node src/operate.ts replay ...` or `node src/operate.ts dead-letters ...`.
 */
export async function operate<S extends BaseSettings>(
  readSettings: (env: NodeJS.ProcessEnv) => S,
  createReplay: CreateReplay<S>,
): Promise<void> {
  // A reader that leaves early (| head) must not end a command in the middle of its work.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
  try {
    process.exitCode = await run(process.argv.slice(2), readSettings(process.env), createReplay)
  } catch (error) {
    if (!(error instanceof OperationError || error instanceof SettingsError)) throw error
    process.stderr.write(`error: ${error.message}\n`)
    if (error instanceof OperationError && error.nextStep) process.stderr.write(`next: ${error.nextStep}\n`)
    process.exitCode = 1
  }
}

async function run<S extends BaseSettings>(
  [command, ...args]: string[],
  settings: S,
  createReplay: CreateReplay<S>,
): Promise<number> {
  const kafka = kafkaConnection(settings.Stream)
  switch (command) {
    case 'replay': {
      const handlers = createReplay({ settings, sidecar: createSidecar(settings), now: () => new Date() })
      await replayCommand(args, { app: settings.App.Name, kafka, handlers })
      return 0
    }
    case 'dead-letters':
      return await deadLettersCommand(args, kafka)
    default:
      throw new OperationError(`unknown command ${command ?? '(none)'}`, { nextStep: usage })
  }
}
