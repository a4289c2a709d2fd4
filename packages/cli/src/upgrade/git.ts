import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run, UpgradeError } from './run.ts'

/**
 * Runs Git in a folder, and returns its output without the last line break. Runs no hooks: those of a person or a company expect finished changes, and
 * perhaps change or refuse these.
 * @throws {UpgradeError} with the output of Git
 */
export async function git(folder: string, ...args: string[]): Promise<string> {
  return (await run(folder, 'git', ['-c', 'core.hooksPath=/dev/null', ...args])).trimEnd()
}

/** Stages files even if a person's Git settings ignore them, such as `*.tgz`. A clone would lack these files. */
export async function stage(folder: string, files: readonly string[]): Promise<void> {
  if (files.length > 0) await run(folder, 'git', ['add', '--force', '--', ...files])
}

/**
 * Clones a repository, and compares files of the clone with those of the folder.
 * @param files paths relative to the folder
 * @throws {UpgradeError} if files are missing or different, for example because of a filter in the person's Git attributes
 */
export async function checkClone(folder: string, files: readonly string[]): Promise<void> {
  const parent = mkdtempSync(join(tmpdir(), 'orderflow-clone-'))
  try {
    // The folder may be a part of a larger repository.
    const root = await git(folder, 'rev-parse', '--show-toplevel')
    const clone = join(parent, 'clone', await git(folder, 'rev-parse', '--show-prefix'))
    await git(folder, 'clone', '--quiet', '--template=', root, join(parent, 'clone'))
    const wrong = files.filter((file) => !isSame(join(folder, file), join(clone, file)))
    const [first, ...others] = wrong
    if (first === undefined) return
    const more = others.length > 0 ? ` and ${others.length} more files` : ''
    throw new UpgradeError(`a clone of ${folder} lacks ${first}${more}, or has other content there`, {
      nextStep: 'find the cause in your Git settings (git config --list --show-origin)',
    })
  } finally {
    rmSync(parent, { recursive: true, force: true })
  }
}

function isSame(one: string, other: string): boolean {
  try {
    return readFileSync(one).equals(readFileSync(other))
  } catch {
    return false
  }
}
