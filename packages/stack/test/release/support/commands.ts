import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { repository } from '../../../src/application/paths.ts'

export interface Result {
  status: number | null
  output: string
}

export interface RunOptions {
  env?: NodeJS.ProcessEnv
  /** Kills the command and its children with SIGKILL after it has printed this text. */
  killAt?: RegExp
  /** Stops the command with SIGTERM after it has printed this text. */
  stopAt?: RegExp
}

/** Runs commands like an operator, and records their output and the arguments of all processes. */
export function createOperator(env: NodeJS.ProcessEnv) {
  let transcript = ''
  const processArguments = new Set<string>()
  let killRunning = () => {}

  return {
    transcript: () => transcript,
    processArguments: () => [...processArguments].join('\n'),
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
      // Removes settings of the environment in which make or a person runs the tests.
      env: { ...withoutSettings(process.env), ...env, ...options.env },
      // Runs the command in its own group, so that a kill reaches its children.
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
      // This process has ended since the folder was read.
    }
  }
}
