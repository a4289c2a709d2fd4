import { join, relative } from 'node:path'
import { type ConfigVars, isSecret, type Resolved, resolveConfigVars } from './config-vars.ts'
import { ReleaseError } from './error.ts'
import { instructions } from './instructions.ts'
import { readTarget } from './operator.ts'
import type { Output } from './output.ts'
import { readPrivate, releaseFolder, writePrivate } from './private-file.ts'
import { ask } from './prompt.ts'
import type { Service } from './services.ts'

/** `make export-order`: writes the config vars and the manual steps of a release. */
export async function exportService(service: Service, env: NodeJS.ProcessEnv, out: Output): Promise<void> {
  const target = readTarget(env)
  const vars = await completeConfigVars(service, env, out)
  const folder = join(releaseFolder(env), service.folder)
  const files = { vars: configVarsFile(service, env), steps: join(folder, 'instructions.md') }
  writePrivate(files.vars, `${JSON.stringify(vars, null, 2)}\n`)
  writePrivate(files.steps, instructions({ service, target, configVarsFile: files.vars }))
  out.print(
    `${relative('.', files.vars)}    ${Object.keys(vars).length} config vars, secrets among them: keep it to yourself`,
  )
  out.print(`${relative('.', files.steps)}    the steps by hand`)
  out.print()
  out.print(`next: make release-${service.name} APP=name-of-your-app DRY_RUN=1`)
}

/**
 * A service's config vars from the environment, an earlier export and `appsettings.json`, in this order. At a terminal the
 * operator is asked for what is missing or wrong.
 * @throws {ReleaseError} `settings` with a line for each config var that is missing or wrong still
 */
export async function completeConfigVars(service: Service, env: NodeJS.ProcessEnv, out: Output): Promise<ConfigVars> {
  const earlier = readPrivate<ConfigVars>(configVarsFile(service, env)) ?? {}
  let resolved = resolveConfigVars(service, env, earlier)
  if (process.stdin.isTTY && process.stderr.isTTY) {
    resolved = resolveConfigVars(service, { ...env, ...(await askFor(resolved)) }, earlier)
  }
  const { vars, problems } = resolved
  out.hide(...Object.entries(vars).flatMap(([name, value]) => (isSecret(name) ? [value] : [])))
  if (problems.length === 0) return vars
  throw new ReleaseError('settings', `config vars of ${service.folder} are not usable:\n${list(problems)}`, {
    nextStep: `set them as environment variables, or in ${configVarsFile(service, env)}, and run this again`,
  })
}

async function askFor({ vars, problems }: Resolved): Promise<ConfigVars> {
  const answers: ConfigVars = {}
  const names = new Set(problems.map((problem) => problem.split(':')[0] ?? '').filter((name) => name in vars))
  for (const name of names) answers[name] = await ask(`${name}: `, { secret: isSecret(name) })
  return answers
}

const configVarsFile = (service: Service, env: NodeJS.ProcessEnv) =>
  join(releaseFolder(env), service.folder, 'config-vars.json')

const list = (lines: string[]) => lines.map((line) => `  - ${line}`).join('\n')
