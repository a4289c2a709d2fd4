import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { targets } from '../system.ts'

export interface Ended {
  code: number
  /** Standard output and standard error together. */
  output: string
}

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Runs a target of make, as a user types it at the root of the repository. */
export function make(args: string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    execFile(
      'make',
      ['--no-print-directory', ...args],
      { cwd: root, maxBuffer: 64 * 1024 * 1024 },
      (error, out, err) => {
        if (error && typeof error.code !== 'number') return reject(error)
        resolve({ code: error ? Number(error.code) : 0, output: out + err })
      },
    )
  })
}

/** The same, of a target that must succeed. Returns what it printed. */
export async function succeed(args: string[]): Promise<string> {
  const { code, output } = await make(args)
  if (code !== 0) throw new Error(`make ${args.join(' ')} ended with ${code}:\n${output}`)
  return output
}

/** @throws {Error} no stack runs, or not all of it */
export async function requireStack(): Promise<void> {
  const { code, output } = await make(targets.status)
  if (code !== 0 || /^stopped/m.test(output)) throw new Error(`this suite needs a running stack: make up\n${output}`)
}

/** Kills a part of the stack with SIGKILL: the process that `make status` shows, or the container of that name. */
export async function kill(name: string): Promise<void> {
  const output = await succeed(targets.status)
  const [, pid] = new RegExp(`^${name} +running +(\\d+) `, 'm').exec(output) ?? []
  if (pid) {
    process.kill(Number(pid), 'SIGKILL')
    return
  }
  const ids = await run('docker', ['ps', '--quiet', '--filter', `label=com.docker.compose.service=${name}`])
  if (!ids.trim()) throw new Error(`neither a process nor a container ${name} runs:\n${output}`)
  await run('docker', ['kill', '--signal', 'KILL', ...ids.trim().split('\n')])
}

function run(command: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, (error, out) => (error ? reject(error) : resolve(out)))
  })
}
