import { CliError, reportError } from '../base/error.ts'
import { diskFullError, isDiskFull } from '../base/files.ts'
import { localFolder, packageFile } from './paths.ts'

/** Maps error codes of invalid files, and of an unreadable log, to the next step. Importing the classes of these errors would load the schemas, which may be invalid. */
const corrections: Record<string, string> = {
  'application-file': `correct the file (${packageFile('service-kit/src/application/application.schema.json')} describes it)`,
  contract: 'correct the schemas (docs/own-application.md shows one)',
  log: 'check that Kafka runs (make up), and the addresses of its brokers',
}

/**
 * Prints the failure of a program with its next step, and sets the exit code of this process.
 * @throws {unknown} a failure that is a defect
 */
export async function reportFailure(failure: unknown): Promise<void> {
  reportError(await explained(failure))
}

async function explained(failure: unknown): Promise<unknown> {
  const { code, message } = failure as NodeJS.ErrnoException
  const nextStep = corrections[String(code)]
  if (nextStep) return new CliError('usage', message, { nextStep, cause: failure })
  if (isDiskFull(failure)) return diskFullError((failure as NodeJS.ErrnoException).path ?? localFolder, failure)
  return String(code).startsWith('PLT_KFK_') ? await kafkaError(failure) : failure
}

/** Returns an error for a Kafka that does not answer. Loads the client on demand, because that takes half a second. */
async function kafkaError(failure: unknown): Promise<unknown> {
  const { findErrorBy } = await import('@platformatic/kafka')
  const network = findErrorBy(failure as Error, 'code', 'PLT_KFK_NETWORK')
  if (!network) return failure
  return new CliError('unreachable', `Kafka does not answer: ${network.message}`, {
    nextStep: 'start Kafka, or run this again if it is only slow',
    cause: failure,
  })
}
