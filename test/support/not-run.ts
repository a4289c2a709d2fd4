/** What this run leaves out, a line each with the reason. The reporter shows it beside the counts. */
export const notRun: string[] = []
