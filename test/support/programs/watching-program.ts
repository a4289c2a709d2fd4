import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { eventually } from '@orderflow/stack/base'

/** A program that runs until Ctrl-C, such as `make dev` or `kubectl port-forward`. */
export interface WatchingProgram {
  /** Ends the program as Ctrl-C does. Does nothing if it has ended. */
  stop: () => Promise<void>
}

/**
 * Starts a program, and waits until it prints that it is watching files or forwarding a port.
 * @param variables are added to the environment
 * @throws {Error} with its output if it ends before
 */
export async function startWatching(
  command: string,
  args: string[],
  cwd: string,
  variables: Record<string, string>,
): Promise<WatchingProgram> {
  // A process group of its own, so that Ctrl-C reaches all of its processes.
  const program = spawn(command, args, { cwd, env: { ...process.env, ...variables }, detached: true })
  let printed = ''
  for (const output of [program.stdout, program.stderr]) {
    output.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk
    })
  }
  async function stop(): Promise<void> {
    if (program.exitCode !== null || !program.pid) return
    process.kill(-program.pid, 'SIGINT')
    await once(program, 'exit')
  }
  const isReady = () => {
    if (program.exitCode !== null) throw new Error(`exit code ${program.exitCode}\n${printed.slice(-4_000)}`)
    return /watching|Forwarding from/.test(printed)
  }
  try {
    await eventually(isReady, 'a program that watches files or forwards a port', 120_000)
  } catch (error) {
    await stop()
    throw error
  }
  return { stop }
}
