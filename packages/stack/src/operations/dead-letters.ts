import { type Service, storedServices } from '../application/services.ts'
import { givenVariables, streamVariables } from '../application/variables.ts'
import { CliError } from '../base/error.ts'
import { operateElsewhere, operateHere } from '../processes/inside.ts'
import type { InsideOptions } from '../runner.ts'
import { runningRunner } from '../runners.ts'

/** A service with a store. Each such service can read all dead letters. */
const anyService = storedServices[0] as Service

interface DeadLetterOptions {
  /** The file of this machine that the arguments name. */
  file: string | undefined
  /** True if a person edits the event. */
  isEdited: boolean
  /** Returns the content of the file, and the variables, for a command in a cluster. */
  inside: () => InsideOptions
}

/** Runs the program for dead letters with the Kafka that `Stream__Brokers` names, by default that of the running stack. Returns the exit code. */
export async function operateDeadLetters(
  args: string[],
  { file, isEdited, inside }: DeadLetterOptions,
): Promise<number> {
  const { env } = process
  const all = ['dead-letters', ...args]
  if (env.Stream__Brokers)
    return await operateElsewhere(anyService, all, { variables: givenVariables(env), kafka: streamVariables(env) })
  const runner = await runningRunner()
  if (runner?.inside) {
    if (isEdited) throw noEditor()
    const sent = all.map((arg) => (arg === file ? '-' : arg === `--file=${file}` ? '--file=-' : arg))
    return await runner.inside.operate(anyService, sent, inside())
  }
  const kafka = await runner?.streamVariables?.()
  return kafka ? await operateElsewhere(anyService, all, { variables: {}, kafka }) : await operateHere(anyService, all)
}

function noEditor(): CliError {
  return new CliError('usage', 'an editor cannot run inside the cluster', {
    nextStep: 'edit the event on the page of the monitor, or name a file with the edited event: FILE=event.json',
  })
}
