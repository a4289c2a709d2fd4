/** Titles of the tests that this run leaves out, by the reason. The reporter shows them beside the counts, a line each reason. */
export const notRun = new Map<string, string[]>()

export function leaveOut(title: string, reason: string): void {
  notRun.set(reason, [...(notRun.get(reason) ?? []), title])
}
