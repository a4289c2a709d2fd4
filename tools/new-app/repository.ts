import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkClone, git, stage } from '@orderflow/cli'
import { CliError, runTool } from '@orderflow/stack/base'

/**
 * Checks that npm will install packages into the folder. npm installs into an npm workspace that contains the folder, and changes its files.
 * @throws {CliError} `usage` inside such a workspace
 */
export async function requireOwnPackages(folder: string): Promise<void> {
  const created = mkdirSync(folder, { recursive: true })
  const manifest = join(folder, 'package.json')
  try {
    writeFileSync(manifest, '{}')
    const root = (await runTool('npm', ['prefix'], { cwd: folder })).trim()
    if (root === realpathSync(folder)) return
    throw new CliError('usage', `${folder} would belong to the npm workspaces of ${root}`, {
      nextStep: `choose a DIR outside of them, or change "workspaces" in ${join(root, 'package.json')}`,
    })
  } finally {
    rmSync(manifest, { force: true })
    if (created !== undefined) rmSync(created, { recursive: true })
  }
}

/**
 * Creates a Git repository with a commit of all files that the folder's own .gitignore keeps. The person's Git settings may ignore other files.
 * @throws {CliError} `provision-failed` if a clone would differ
 */
export async function createRepository(folder: string, message: string): Promise<void> {
  await git(folder, 'init', '--quiet', '--initial-branch=main')
  const listed = await git(folder, 'ls-files', '-z', '--others', '--exclude-per-directory=.gitignore')
  const files = listed.split('\0').filter(Boolean)
  await stage(folder, files)
  const isKnown = await git(folder, 'var', 'GIT_COMMITTER_IDENT').then(
    () => true,
    () => false,
  )
  const author = isKnown ? [] : ['-c', 'user.name=make new-app', '-c', 'user.email=new-app@localhost']
  // biome-ignore lint/plugin/no-spread-arguments: at most four arguments
  await git(folder, ...author, 'commit', '--quiet', '--no-gpg-sign', '--message', message)
  await checkClone(folder, files)
}
