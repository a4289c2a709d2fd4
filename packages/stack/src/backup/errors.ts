import { LogError, protocolErrors, rootMessage } from '@orderflow/kafka-log'
import { CliError } from '../base/error.ts'

/**
 * Returns the error to report after a failure of Kafka. Returns other errors unchanged.
 * @param during the work that can be continued, such as `the backup`
 * @param page the page that names the necessary rights
 */
export function copyError(error: unknown, { during, page }: { during: string; page: string }): unknown {
  const isOfKafka = error instanceof LogError || String((error as { code?: unknown }).code).startsWith('PLT_KFK')
  const denial = protocolErrors(error).find((each) => each.endsWith('AUTHORIZATION_FAILED'))
  if (denial) {
    const nextStep = `use a user that may read, write and alter all topics and groups (${page})`
    return new CliError('denied', `Kafka denies a request of ${during}: ${denial}`, { nextStep, cause: error })
  }
  if (!isOfKafka) return error
  const nextStep = `if this Kafka runs, check its address, user and certificate (${page}). The next run continues after the last written record`
  return new CliError('unreachable', `a Kafka failed during ${during}: ${rootMessage(error)}`, {
    nextStep,
    cause: error,
  })
}
