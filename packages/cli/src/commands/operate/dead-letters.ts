import {
  givenVariables,
  operateElsewhere,
  operateHere,
  runningRunner,
  type Service,
  storedServices,
  streamVariables,
} from '@orderflow/stack'
import { CliError } from '@orderflow/stack/base'
import type { Command, Given } from '../../command-line.ts'
import { insideOptions } from '../../near-kafka.ts'

export const command: Command = {
  parameters: '[list|show|replay] [ID|GROUP|all]',
  options: {
    values: { summary: 'also show personal data' },
    'dry-run': { summary: 'replay: show the effects without publishing' },
    edit: { summary: 'replay one event after editing it in $EDITOR' },
    file: { value: 'FILE', summary: 'replay one event with the content of this file' },
    attempt: {
      value: 'POSITION',
      summary: 'replay only if the newest failed attempt is the record at this position',
    },
    contradict: { summary: 'replay an edit even if it contradicts the data of a service' },
  },
  run: deadLetters,
}

/** A service with a store. Each such service can read all dead letters. */
const anyService = storedServices[0] as Service

/** Uses the Kafka that `Stream__Brokers` names, by default that of the running stack. Returns the exit code. */
async function deadLetters({ all, text, flag, signal }: Given): Promise<number> {
  const { env } = process
  const args = ['dead-letters', ...all]
  if (env.Stream__Brokers)
    return await operateElsewhere(anyService, args, { variables: givenVariables(env), kafka: streamVariables(env) })
  const runner = await runningRunner()
  if (runner?.inside) {
    if (flag('edit')) throw noEditor()
    const file = text('file')
    const inside = args.map((arg) => (arg === file ? '-' : arg === `--file=${file}` ? '--file=-' : arg))
    return await runner.inside.operate(anyService, inside, insideOptions(file, signal()))
  }
  const kafka = await runner?.streamVariables()
  return kafka
    ? await operateElsewhere(anyService, args, { variables: {}, kafka })
    : await operateHere(anyService, args)
}

function noEditor(): CliError {
  return new CliError('usage', 'an editor cannot run inside the cluster', {
    nextStep: 'edit the event on the page of the monitor, or name a file with the edited event: FILE=event.json',
  })
}
