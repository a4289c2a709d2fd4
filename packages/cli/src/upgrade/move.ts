import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { checkClone, git, stage } from './git.ts'
import { replacementOf } from './packages.ts'
import { generateTitle, type Plan, planText, releaseIn, undoText, updateTitle } from './plan.ts'
import { npmInstall, run, UpgradeError } from './run.ts'
import { isNewer, type Step, stepsAfter } from './steps.ts'

const buildNewer =
  'update that clone of orderflow, and build its packages again (make -C tools packages, between two releases with VERSION=...)'

export interface Move {
  /** The folder of the application, which has no uncommitted changes. */
  application: string
  /** The folder of the new archives; undefined if the application installs its packages from a registry. */
  archives: string | undefined
  /** The folder of the new @orderflow/cli, without its dependencies. */
  cli: string
  /** The steps of the new version. */
  steps: readonly Step[]
  print: (text: string) => void
}

/**
 * Moves an application to new packages, on a branch with a commit for each change.
 * @throws {UpgradeError} before or after the first change
 */
export async function move(given: Move): Promise<void> {
  const { application, archives, print } = given
  const plan = await planOf(given)
  const replacePackages = replacementOf(application, plan.after.version, archives)
  print(planText(plan))
  const again = 'go back, correct the cause, and upgrade again'
  const step = async (title: string, work: () => unknown, advice = again) => {
    print(`\n${title}`)
    try {
      await work()
    } catch (cause) {
      const back = `git add --all && git switch --force ${plan.base} && git branch -D ${plan.branch}`
      const nextStep = `${advice}. To go back: ${back}`
      throw new UpgradeError(`“${title}” failed: ${(cause as Error).message}`, { nextStep, cause })
    }
  }

  let packages: string[] = []
  await git(application, 'switch', '--quiet', '--create', plan.branch)
  await step(updateTitle(plan.after), async () => {
    packages = [...replacePackages(), 'package-lock.json']
    await npmInstall(application)
    await stage(application, packages)
    await commit(application, updateTitle(plan.after))
  })
  // Steps come first, because the new version may be unable to read the old services.json.
  for (const { title, why, change } of plan.steps) {
    await step(title, async () => {
      await change?.(application)
      await commit(application, title, why)
    })
  }
  await step(generateTitle(plan.after), async () => {
    const printed = await run(application, './orderflow', ['generate'])
    const written = Array.from(printed.matchAll(/^written: (.+)$/gm), ([, path = '']) => path)
    await stage(application, written)
    await commit(application, generateTitle(plan.after))
    await checkClone(application, [...packages, ...written])
  })
  const test = () => {
    const args = ['--no-print-directory', '-C', application, 'test']
    const { status, signal, error } = spawnSync('make', args, { stdio: 'inherit' })
    if (status !== 0) throw error ?? new Error(`exit code ${status ?? signal}`)
  }
  await step('make test', test, `correct the cause on the branch ${plan.branch}, and run make test again`)
  print(
    [
      `${plan.branch} is ready, and its tests pass. If the stack runs, make up restarts it, one service after the other.`,
      `next: git switch ${plan.base} && git merge ${plan.branch}`,
      undoText(plan),
    ].join('\n'),
  )
}

async function planOf({ application, archives, cli, steps }: Move): Promise<Plan> {
  const [before, after] = [releaseIn(join(application, 'node_modules/@orderflow/cli')), releaseIn(cli)]
  if (!isNewer(after.version, before.version)) {
    throw new UpgradeError(
      `the packages ${archives === undefined ? 'in the registry' : `in ${archives}`} have version ${after.version}, but the application already has version ${before.version}`,
      { nextStep: archives === undefined ? 'name a newer version' : buildNewer },
    )
  }
  const branch = `upgrade-${after.version}`
  if ((await git(application, 'branch', '--list', branch)) !== '') {
    throw new UpgradeError(`the branch ${branch} already exists`, {
      nextStep: `continue on it (git switch ${branch}), or delete it (git branch -D ${branch}) and run this again`,
    })
  }
  await git(application, 'var', 'GIT_AUTHOR_IDENT').catch((cause: Error) => {
    throw new UpgradeError(`Git cannot commit: ${cause.message}`, {
      nextStep: 'git config user.name NAME && git config user.email ADDRESS, then run this again',
      cause,
    })
  })
  const due = stepsAfter(before.version, steps)
  for (const { check } of due) check?.(application)
  return { before, after, branch, base: await git(application, 'branch', '--show-current'), steps: due }
}

/** Commits all changes, if there are any. */
async function commit(application: string, title: string, body = ''): Promise<void> {
  await git(application, 'add', '--all', '.')
  if ((await git(application, 'status', '--porcelain')) === '') return
  await git(application, 'commit', '--quiet', '--message', `${title}\n\n${body}`)
}
