import { type ExecFileException, execFile } from 'node:child_process'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

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

/** The longest output of a program, in bytes. */
const mostPrinted = 64 * 2 ** 20

/**
 * Runs a program in a folder, and returns its standard output.
 * @throws {UpgradeError} with its output
 */
export async function run(folder: string, command: string, args: readonly string[]): Promise<string> {
  const running = promisify(execFile)(command, [...args], { cwd: folder, maxBuffer: mostPrinted })
  // A program that reads its standard input would otherwise wait forever.
  running.child.stdin?.end()
  const { stdout } = await running.catch((cause: ExecFileException & { syscall?: string }) => {
    if (cause.syscall) throw new UpgradeError(`${command} cannot be started: ${cause.message}`, { cause })
    const lines = `${cause.stdout}\n${cause.stderr}`.split('\n').filter(Boolean).slice(-30)
    throw new UpgradeError(`${command} ${args[0]} failed (${cause.code ?? cause.signal}):\n${lines.join('\n')}`)
  })
  return stdout
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
