import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { CliError, print, reportError, repository, runTool, timed } from '@orderflow/stack/base'
import { type Provisioned, provisionTools } from '@orderflow/stack/internals'
import { actionlintTool, shellAndImageLinters } from './programs.ts'

// `make check` runs this program. It lints shell scripts, Dockerfiles and workflows. It reports linters that cannot be installed. If the variable `CI`
// is set, a missing linter is an error.

async function lint(env: NodeJS.ProcessEnv): Promise<number> {
  const [forWorkflows, others] = [actionlintTool(), shellAndImageLinters()]
  const bin = join(others.folder, 'bin')
  // If shellcheck is in PATH, actionlint uses it to check the commands of workflows.
  const linterEnv = { ...env, PATH: [bin, env.PATH].join(delimiter) }
  const runs: Promise<string>[] = []
  if (await isToBeHad('shellcheck and hadolint', others, env)) {
    const files = await filesOfGit()
    runs.push(complaints(join(bin, 'shellcheck'), files.filter(isShellScript), linterEnv))
    const dockerfiles = files.filter((file) => /(^|\/)Dockerfile$/.test(file))
    runs.push(complaints(join(bin, 'hadolint'), dockerfiles, linterEnv))
  }
  const hasWorkflows = existsSync(join(repository, '.github/workflows'))
  if (hasWorkflows && (await isToBeHad('actionlint', forWorkflows, env))) {
    runs.push(complaints(join(forWorkflows.folder, 'actionlint'), [], linterEnv))
  }
  const wrong = (await Promise.all(runs)).filter(Boolean)
  for (const text of wrong) print(text)
  return wrong.length > 0 ? 1 : 0
}

async function isToBeHad(names: string, tool: Provisioned, env: NodeJS.ProcessEnv) {
  try {
    await provisionTools([tool], { onProgress: timed() })
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

process.exitCode = await lint(process.env).catch((error: unknown) => {
  reportError(error)
  return 1
})
