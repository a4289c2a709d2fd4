import { spawn } from 'node:child_process'
import { join, resolve } from 'node:path'

/** The checkout that started the stack. The tests run the commands of this checkout. */
export const checkout = resolve(process.env.CHECKOUT || join(import.meta.dirname, '../..'))

/** Returns the environment for a command. Removes the variables that `make` set when it started these tests. */
export function cleanEnvironment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { MAKEFLAGS, MFLAGS, MAKEOVERRIDES, MAKELEVEL, PART, ...env } = process.env
  return { ...env, NO_COLOR: '1', ...more }
}

/**
 * Runs a command of system.ts and returns its output.
 * @throws {Error} if the command fails; the error contains the output
 */
export const make = ([program = '', ...args]: string[], env?: NodeJS.ProcessEnv) => run(program, args, env)

export async function run(command: string, args: string[], env?: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(command, args, {
    cwd: checkout,
    env: cleanEnvironment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  if (code === 0) return output
  throw new Error(`${command} ${args.join(' ')} exited with ${code}:\n${output}`)
}
