import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { runIn } from '@orderflow/test-kit/stacks'
import { expect } from 'chai'

const git = (...args: string[]) => runIn(repository, 'git', args)

/** The last release of this repository. */
export const lastRelease = JSON.parse(readFileSync(join(repository, 'releases.json'), 'utf8')).at(-1) as {
  version: string
  commit: string
}

export const releaseHas = async (file: string): Promise<boolean> =>
  (await git('cat-file', '-e', `${lastRelease.commit}:${file}`)).code === 0

/** Checks out the sources of the last release into a new folder. Returns a function that removes them. */
export async function checkOutRelease(folder: string): Promise<() => Promise<void>> {
  const { code, stderr } = await git('worktree', 'add', '--detach', folder, lastRelease.commit)
  expect(code, stderr).to.equal(0)
  return async () => {
    await git('worktree', 'remove', '--force', folder)
  }
}
