import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { CliError } from '../lib/error.ts'
import { repository } from '../lib/paths.ts'
import { runTool } from '../lib/run-tool.ts'
import { print, timed } from '../lib/terminal.ts'
import type { Provisioned } from '../provision/build.ts'
import { actionlintTool, shellAndImageLinters } from '../provision/programs.ts'
import { provisionTools } from '../provision/provision.ts'

/**
 * Lints shell scripts, Dockerfiles and workflows. Reports linters that cannot be installed. If the variable `CI` is set, a missing linter is an
 * error.
 */
export async function lint(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<number> {
  const [forWorkflows, others] = [actionlintTool(), shellAndImageLinters()]
  const bin = join(others.folder, 'bin')
  // If shellcheck is in PATH, actionlint uses it to check the commands of workflows.
  const linterEnv = { ...env, PATH: [bin, env.PATH].join(delimiter) }
  const runs: Promise<string>[] = []
  if (await isToBeHad('shellcheck and hadolint', others, env, signal)) {
    const files = await filesOfGit()
    runs.push(complaints(join(bin, 'shellcheck'), files.filter(isShellScript), linterEnv))
    const dockerfiles = files.filter((file) => /(^|\/)Dockerfile$/.test(file))
    runs.push(complaints(join(bin, 'hadolint'), dockerfiles, linterEnv))
  }
  const hasWorkflows = existsSync(join(repository, '.github/workflows'))
  if (hasWorkflows && (await isToBeHad('actionlint', forWorkflows, env, signal))) {
    runs.push(complaints(join(forWorkflows.folder, 'actionlint'), [], linterEnv))
  }
  const wrong = (await Promise.all(runs)).filter(Boolean)
  for (const text of wrong) print(text)
  return wrong.length > 0 ? 1 : 0
}

async function isToBeHad(names: string, tool: Provisioned, env: NodeJS.ProcessEnv, signal: AbortSignal) {
  try {
    await provisionTools([tool], { onProgress: timed(), signal })
    return true
  } catch (error) {
    const isAbsent = error instanceof CliError && ['tools-missing', 'provision-failed'].includes(error.code)
    if (!isAbsent || env.CI) throw error
    print(`not run: ${names} (${error.message})`)
    return false
  }
}

async function filesOfGit(): Promise<string[]> {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate']
  const files = await runTool('git', args, { cwd: repository })
  return files.split('\n').filter((file) => file && existsSync(join(repository, file)))
}

function isShellScript(file: string): boolean {
  return /^#!.*\b(ba)?sh\b/.test(readFileSync(join(repository, file), 'latin1'))
}

/** Returns an empty text if the linter found no problems. */
function complaints(program: string, args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd: repository, env }, (error, stdout, stderr) => {
      resolve(error ? [stdout, stderr, stdout || stderr ? '' : error.message].join('').trim() : '')
    })
  })
}
