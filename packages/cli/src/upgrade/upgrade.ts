import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { CliError, repository, runInTerminal, succeeds } from '@orderflow/stack/base'
import { outdatedFiles } from '@orderflow/stack/generate'
import { git } from './git.ts'
import { run } from './run.ts'

const buildPackages =
  'run make -C tools packages in a newer clone of orderflow, then ./orderflow upgrade CLONE/dist/packages'

/**
 * Runs `./orderflow upgrade`: refuses if the upgrade would lose changes, then starts the program of the new version (`main.ts`). That program does the rest, so
 * each version contains all code that moves an application to it.
 * @param asked the folder of the new archives if the packages of the application are archives, otherwise a version (default: the newest)
 * @returns the exit code
 */
export async function upgrade(asked: string | undefined): Promise<number> {
  await requireCleanBranch(repository)
  requireGenerated(await outdatedFiles())
  const temporary = mkdtempSync(join(tmpdir(), 'orderflow-upgrade-'))
  try {
    const { archive, folder } = await newCli(repository, asked, temporary)
    await unpack(archive, temporary)
    const program = join(temporary, 'package/src/upgrade/main.js')
    return runInTerminal(process.execPath, [program, repository, ...(folder === undefined ? [] : [folder])])
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

/** @throws {CliError} `usage` without a Git branch, or with uncommitted changes */
export async function requireCleanBranch(application: string): Promise<void> {
  if (!(await succeeds(git(application, 'rev-parse', '--git-dir')))) {
    throw new CliError('usage', `${application} is outside a Git repository, which an upgrade needs for its branch`, {
      nextStep: 'git init && git add --all && git commit',
    })
  }
  const changes = await git(application, 'status', '--short')
  if (changes !== '') {
    throw new CliError('usage', `these changes are not committed:\n${changes}`, {
      nextStep: 'commit them (git add --all && git commit), then run this again',
    })
  }
  if ((await git(application, 'branch', '--show-current')) === '') {
    throw new CliError('usage', 'no branch is checked out', { nextStep: 'git switch main, then run this again' })
  }
}

/**
 * @param outdated the generated files that differ from those of the installed version
 * @throws {CliError} `usage` if there are any
 */
export function requireGenerated(outdated: readonly string[]): void {
  if (outdated.length === 0) return
  const lost = 'changes of generated files, which differ from those of the installed version'
  throw new CliError('usage', `the upgrade would lose ${lost}: ${outdated.join(', ')}`, {
    nextStep:
      'move your changes to docker-compose.override.yml (containers), services.json (ports, topics, services) or the schemas; then run make generate, which drops all others, and commit',
  })
}

/**
 * Returns the archive of the new @orderflow/cli, and the folder of all archives if the application installs archives. Otherwise downloads the
 * archive to `temporary`.
 * @throws {CliError} `usage` without an archive
 */
export async function newCli(
  application: string,
  asked: string | undefined,
  temporary: string,
): Promise<{ archive: string; folder?: string }> {
  const { dependencies = {} } = JSON.parse(readFileSync(join(application, 'package.json'), 'utf8'))
  const current: string | undefined = dependencies['@orderflow/cli']
  if (current === undefined) {
    throw new CliError('usage', `package.json of ${application} does not depend on @orderflow/cli`, {
      nextStep: 'run this in an application that make new-app created',
    })
  }
  if (!current.startsWith('file:')) {
    const args = ['pack', '--loglevel=error', '--pack-destination', temporary, `@orderflow/cli@${asked ?? 'latest'}`]
    return { archive: join(temporary, (await run(application, 'npm', args)).trim()) }
  }
  if (asked === undefined)
    throw new CliError('usage', 'the folder of the new packages is missing', { nextStep: buildPackages })
  const folder = resolve(asked)
  const [archive, ...others] = globSync('orderflow-cli-*.tgz', { cwd: folder })
  if (archive !== undefined && others.length === 0) return { archive: join(folder, archive), folder }
  const problem = `${folder} must have one archive orderflow-cli-VERSION.tgz, but has ${archive ? 'several' : 'none'}`
  throw new CliError('usage', problem, { nextStep: buildPackages })
}

/** @throws {CliError} `usage` if the archive is damaged */
export async function unpack(archive: string, folder: string): Promise<void> {
  await run(folder, 'tar', ['-xzf', archive, '-C', folder]).catch((cause: Error) => {
    throw new CliError('usage', `${archive} cannot be unpacked: ${cause.message}`, { nextStep: buildPackages, cause })
  })
}
