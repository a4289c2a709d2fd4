import { join, relative } from 'node:path'
import { repository } from '../application/paths.ts'
import type { Service } from '../application/services.ts'
import { filledIn } from '../application/templates.ts'
import { replaceFile } from '../base/files.ts'
import { configVarsFile, gatherConfigVars } from './gather.ts'
import type { Output } from './output.ts'
import { readTarget } from './platform/operator.ts'
import { releaseFolder, shown } from './record.ts'

/** Runs `./orderflow export NAME`: writes config vars and manual steps of a release, and lists missing values. */
export async function exportService(service: Service, env: NodeJS.ProcessEnv, out: Output): Promise<void> {
  const target = readTarget(env)
  const { vars, problems } = await gatherConfigVars(service, env, out)
  const varsFile = configVarsFile(service, env)
  const stepsFile = join(releaseFolder(env), service.name, 'instructions.md')
  // Commands of these steps read the token from standard input, because process lists show arguments.
  const steps = { ...service, ...target, configVarsFile: relative(repository, varsFile) }
  replaceFile(varsFile, `${JSON.stringify(vars, null, 2)}\n`, 0o600)
  replaceFile(stepsFile, filledIn('release/instructions.template', steps), 0o600)
  out.print(`${shown(varsFile)}    ${Object.keys(vars).length} config vars with secrets: keep this file private`)
  out.print(`${shown(stepsFile)}    the steps of a manual release`)
  out.print()
  if (problems.length > 0) {
    out.print(`Add these values to ${shown(varsFile)}, or set them as environment variables:`)
    for (const problem of problems) out.print(`  - ${problem}`)
    out.print()
  }
  out.print(`next: ./orderflow release ${service.role} --app name-of-your-app --dry-run`)
}
