import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { repository } from '@orderflow/cli'

export interface Result {
  status: number | null
  output: string
}

export interface RunOptions {
  env?: NodeJS.ProcessEnv
  /** Kills the command and all it started with -9 once it has printed this. */
  killAt?: RegExp
  /** Ends it with SIGTERM once it has printed this. */
  stopAt?: RegExp
}

/** Runs commands as an operator does, and remembers all they printed and every process's arguments meanwhile. */
export function createOperator(env: NodeJS.ProcessEnv) {
  let transcript = ''
  const processArguments = new Set<string>()
  let killRunning = () => {}

  return {
    transcript: () => transcript,
    processArguments: () => [...processArguments].join('\n'),
    /** Kills the command that runs now and all it started with -9. */
    kill: () => killRunning(),
    make: (...args: string[]) => run('make', args),
    orderflow: (...args: string[]) => run('./orderflow', args),
    orderflowWith: (options: RunOptions, ...args: string[]) => run('./orderflow', args, options),
    makeWith: (options: RunOptions, ...args: string[]) => run('make', args, options),
    bash: (script: string, options: RunOptions = {}) => run('bash', ['-euo', 'pipefail', '-c', script], options),
    run,
  }

  async function run(command: string, args: string[], options: RunOptions = {}): Promise<Result> {
    const child = spawn(command, args, {
      cwd: repository,
      // Whatever runs the tests may be a make or an operator with settings of his own.
      env: { ...withoutSettings(process.env), ...env, ...options.env },
      // A group of its own, so that a kill reaches what it started.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const signalAll = (signal: NodeJS.Signals) => child.pid && process.kill(-child.pid, signal)
    killRunning = () => signalAll('SIGKILL')
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk
        transcript += chunk
        if (options.killAt?.test(output)) signalAll('SIGKILL')
        if (options.stopAt?.test(output)) signalAll('SIGTERM')
      })
    }
    const watch = setInterval(() => noteArguments(processArguments), 50)
    const status = await new Promise<number | null>((resolve) => child.once('close', resolve))
    clearInterval(watch)
    return { status, output }
  }
}

function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const others = /^(MAKE|MFLAGS|APP$|ACCESS_TOKEN|PLATFORM_|RELEASE_FOLDER|DRY_RUN|\w+__\w+$)/
  return Object.fromEntries(Object.entries(env).filter(([name]) => !others.test(name)))
}

function noteArguments(seen: Set<string>): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      seen.add(readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '))
    } catch {
      // It has ended.
    }
  }
}
