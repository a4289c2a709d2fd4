import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { ownPackages } from '@orderflow/test-kit/stacks'
import { copyRepository, type RepositoryCopy } from './repository-copy.ts'

/** Copies the repository as a checkout that git and npm accept: committed, with its own packages. */
export function checkoutOfRepository(): RepositoryCopy {
  const copy = copyRepository()
  for (const path of ['node_modules', ...ownPackages()]) copyPackages(join(repository, path), join(copy.folder, path))
  // npm and packages/cli/node change these files in place, so the copy needs its own.
  for (const [name, source] of [
    ['.package-lock.json', join(repository, 'node_modules/.package-lock.json')],
    ['.installed-lock.json', join(copy.folder, 'package-lock.json')],
  ] as const) {
    const file = join(copy.folder, 'node_modules', name)
    rmSync(file, { force: true })
    copyFileSync(source, file)
  }
  const git = (...args: string[]) => execFileSync('git', args, { cwd: copy.folder, stdio: 'pipe' })
  git('init', '--quiet')
  git('add', '--all')
  git('-c', 'user.name=test', '-c', 'user.email=test@orderflow.example', 'commit', '--quiet', '--message', 'As it was')
  return copy
}

/** Creates hard links in `to`, which takes a sixth of the time of a copy. Copies the files if `to` is on another disk. */
function copyPackages(from: string, to: string): void {
  for (const how of ['-al', '-a']) {
    rmSync(to, { recursive: true, force: true })
    // Node’s own copying takes several times as long for so many files.
    if (spawnSync('cp', [how, from, to], { stdio: how === '-a' ? 'inherit' : 'ignore' }).status === 0) return
  }
  throw new Error(`failed to copy ${from}`)
}

export async function changesIn(copy: Pick<RepositoryCopy, 'run'>): Promise<{ changed: string[]; added: string[] }> {
  const { stdout } = await copy.run('git', ['status', '--porcelain', '--untracked-files=all'])
  const lines = stdout.split('\n').filter(Boolean)
  const marked = (mark: string) => lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(3))
  return { changed: marked(' M'), added: marked('??') }
}
