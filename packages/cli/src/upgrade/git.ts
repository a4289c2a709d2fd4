import { runTool } from '../lib/run-tool.ts'

/**
 * Runs Git in a folder, and returns its output without the last line break.
 * @throws {CliError} `provision-failed` with the output of Git
 */
export async function git(folder: string, ...args: string[]): Promise<string> {
  return (await runTool('git', args, { cwd: folder })).trimEnd()
}
