import { CliError } from '../base/error.ts'

/** @param lost the missing folders or volumes with the log */
export function logLost(lost: readonly string[]): CliError {
  return new CliError('data-lost', `Kafka has lost its log, because ${lost.join(' and ')} no longer exist`, {
    nextStep:
      'put the data back; or begin with an empty log or a backup: make down and ./orderflow clean, then make up or ./orderflow restore (docs/operations.md#backup)',
  })
}
