import { repository } from '../paths.ts'
import { runTool } from '../run-tool.ts'

/** Runs the docker command line and returns what it printed. */
export function docker(...args: string[]): Promise<string> {
  return runTool('docker', args, { cwd: repository })
}
