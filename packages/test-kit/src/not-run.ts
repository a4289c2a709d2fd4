/** Titles of the tests that this run leaves out, by the reason. The reporter shows them beside the counts, a line each reason. */
export const notRun = new Map<string, string[]>()

/** Not with `--parallel`: the reporter is in another process than the tests then, and would never know. */
export function leaveOut(title: string, reason: string): void {
  if (process.env.MOCHA_WORKER_ID !== undefined) throw new Error(`${title}: cannot be left out of a parallel run`)
  notRun.set(reason, [...(notRun.get(reason) ?? []), title])
}
