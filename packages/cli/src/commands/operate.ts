import type { Given } from '../command-line.ts'
import { CliError } from '../lib/error.ts'
import { type Service, serviceNamed, storedServices } from '../lib/services.ts'
import { givenVariables, namedKafka } from '../lib/variables.ts'
import { operateElsewhere, operateHere } from '../processes/runner.ts'
import { insideOptions } from './inside.ts'
import { activeRunner, runningRunner } from './runners.ts'

/** A service with a store. Each such service can read all dead letters. */
const anyService = storedServices[0] as Service

/** Runs `./orderflow dead-letters` for the Kafka that `Stream__Brokers` names, by default for the running stack. Returns the exit code. */
export async function deadLetters({ all, text, flag, signal }: Given): Promise<number> {
  const { Stream__Brokers } = process.env
  const runner = Stream__Brokers ? undefined : await runningRunner()
  if (runner?.inside) {
    if (flag('edit')) throw noEditor()
    const file = text('file')
    const args = all.map((arg) => (arg === file ? '-' : arg === `--file=${file}` ? '--file=-' : arg))
    return await runner.inside.operate(anyService, ['dead-letters', ...args], insideOptions(file, signal()))
  }
  const args = ['dead-letters', ...all]
  if (Stream__Brokers) {
    const { env } = process
    return await operateElsewhere(anyService, args, { variables: givenVariables(env), kafka: namedKafka(env) })
  }
  const kafka = await runner?.streamVariables()
  if (kafka) return await operateElsewhere(anyService, args, { variables: {}, kafka })
  return await operateHere(anyService, args)
}

function noEditor(): CliError {
  return new CliError('usage', 'an editor cannot run inside the cluster', {
    nextStep: 'edit the event on the page of the monitor, or name a file with the edited event: FILE=event.json',
  })
}

/**
 * Runs `make rebuild` through the service's sidecar. Returns the exit code.
 * @throws {CliError} `usage` for an unknown service, `not-running` if the stack is stopped
 */
export async function rebuild(name: string | undefined, range: string[]): Promise<number> {
  const service = serviceNamed(name)
  if (!service.hasStore) {
    throw new CliError('usage', `${service.name} has no store to rebuild`, {
      nextStep: `SERVICE is one of ${storedServices.map((each) => each.name).join(', ')}`,
    })
  }
  const runner = await activeRunner()
  return await runner.operate(service, ['rebuild', ...range])
}
