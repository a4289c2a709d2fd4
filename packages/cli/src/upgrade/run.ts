import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

// An upgrade runs before the new packages are installed, so this folder imports only modules of Node. `upgrade.ts`, which starts the upgrade, is the
// exception.

/** A failure of an upgrade, with the next step of the user. */
export class UpgradeError extends Error {
  readonly nextStep: string | undefined

  constructor(message: string, { nextStep, cause }: { nextStep?: string; cause?: unknown } = {}) {
    super(message, { cause })
    this.name = 'UpgradeError'
    this.nextStep = nextStep
  }
}

/**
 * Runs a program in a folder, and returns its standard output.
 * @throws {UpgradeError} with its output
 */
export async function run(folder: string, command: string, args: readonly string[]): Promise<string> {
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const printed = { output: '', errors: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed.output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed.errors += text
  })
  const [status, signal] = await once(child, 'close').catch((cause: Error) => {
    throw new UpgradeError(`${command} cannot be started: ${cause.message}`, { cause })
  })
  if (status === 0) return printed.output
  const lines = `${printed.output}\n${printed.errors}`.split('\n').filter(Boolean).slice(-30)
  throw new UpgradeError(`${command} ${args[0]} failed (${status ?? signal}):\n${lines.join('\n')}`)
}

/**
 * Installs the packages of a folder without running their scripts. The first two flags stop npm from installing into npm
 * workspaces that contain the folder. They also keep the folder's own workspaces, which a person's settings could turn off.
 * @param flags additional flags of `npm install`
 */
export async function npmInstall(folder: string, ...flags: string[]): Promise<void> {
  const installed = join(folder, 'node_modules/.installed-lock.json')
  // Without these files, `packages/cli/node` repeats an installation that failed.
  for (const lock of [installed, join(folder, 'node_modules/.package-lock.json')]) rmSync(lock, { force: true })
  const own = [`--prefix=${folder}`, '--workspaces=null']
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  await run(folder, 'npm', ['install', ...own, ...flags, ...quiet])
  // `packages/cli/node` compares this copy with the lock file to find missing packages.
  copyFileSync(join(folder, 'package-lock.json'), installed)
}
