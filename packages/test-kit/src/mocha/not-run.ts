/** Skipped tests of this run, by reason. The reporter prints a line for each reason. */
export const notRun = new Map<string, string[]>()

/**
 * Skips a test and reports it.
 * @throws {Error} with `--parallel`, because the reporter then runs in another process
 */
export function leaveOut(title: string, reason: string): void {
  if (process.env.MOCHA_WORKER_ID !== undefined)
    throw new Error(`${title}: a parallel run would lose the report of skipped tests; run it without --parallel`)
  notRun.set(reason, [...(notRun.get(reason) ?? []), title])
}
