import { commandGroups, hiddenGroups } from './command-groups.ts'
import { runCommandLine } from './command-line.ts'
import { CliError, reportError } from './lib/error.ts'
import { diskFullError, isDiskFull } from './lib/files.ts'
import { localFolder, packageFile } from './lib/paths.ts'
import { print } from './lib/terminal.ts'

/** Returns a signal that the first Ctrl-C aborts, so that the command can clean up before it ends. */
function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort())
  return controller.signal
}

/** Maps error codes of invalid files to the next step. Importing the classes of these errors would load the schemas, which may be invalid. */
const corrections: Record<string, string> = {
  'application-file': `correct the file (${packageFile('service-kit/src/application/application.schema.json')} describes it)`,
  contract: 'correct the schemas (docs/own-application.md shows one)',
}

async function commandError(failure: unknown): Promise<unknown> {
  const nextStep = failure instanceof Error && 'code' in failure ? corrections[String(failure.code)] : undefined
  if (nextStep) return new CliError('usage', (failure as Error).message, { nextStep, cause: failure })
  if (isDiskFull(failure)) return diskFullError((failure as NodeJS.ErrnoException).path ?? localFolder, failure)
  return (await kafkaError(failure)) ?? failure
}

/** Returns an error for a Kafka that does not answer. Loads the client on demand, because that takes half a second. */
async function kafkaError(failure: unknown): Promise<CliError | undefined> {
  const isKafka = failure instanceof Error && 'code' in failure && String(failure.code).startsWith('PLT_KFK_')
  if (!isKafka) return undefined
  const { findErrorBy } = await import('@platformatic/kafka')
  const network = findErrorBy(failure, 'code', 'PLT_KFK_NETWORK')
  return network
    ? new CliError('unreachable', `Kafka does not answer: ${network.message}`, {
        nextStep: 'start Kafka, or run this again if it is only slow',
        cause: failure,
      })
    : undefined
}

// The command continues if the reader of its output ends early, as in `make up | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return
  process.stderr.write(`error: the output cannot be written: ${error.message}\n`)
  process.exit(1)
})
try {
  process.exitCode = await runCommandLine(commandGroups, process.argv.slice(2), interruption, print, hiddenGroups)
} catch (failure) {
  reportError(await commandError(failure))
}
