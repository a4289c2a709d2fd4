/** How many of a log's last lines are shown. */
export const logLines = 40

export interface LogOptions {
  /** Whether to go on with what is added. */
  follow: boolean
  /** Ends that. */
  signal: AbortSignal
}
