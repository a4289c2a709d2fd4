import { CliError } from '@orderflow/cli'
import { OperationError } from '@orderflow/service-kit/terminal'

/** Runs a program. Prints an expected error and its next step instead of a stack. */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main()
  } catch (error) {
    if (!(error instanceof CliError || error instanceof OperationError)) throw error
    console.error(`error: ${error.message}${error.nextStep ? `\nnext: ${error.nextStep}` : ''}`)
    process.exitCode = 1
  }
}
