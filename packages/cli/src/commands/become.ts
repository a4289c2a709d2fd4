import { CliError, programFile } from '@orderflow/stack/base'

/** Replaces this process by the program of a package, which then has the terminal and its signals. */
export async function become(program: string, args: string[], variables: NodeJS.ProcessEnv = {}): Promise<never> {
  // With `NODE_DEBUG`, Node would print requests with their tokens.
  const { NODE_DEBUG: _, ...env } = process.env
  if (!process.execve)
    throw new CliError('tools-missing', 'this command needs Linux or macOS', { nextStep: 'docs/operations.md' })
  return process.execve(process.execPath, [process.execPath, programFile(program), ...args], { ...env, ...variables })
}
