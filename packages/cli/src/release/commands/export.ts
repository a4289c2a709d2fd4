import { join } from 'node:path'
import type { Output } from '../lib/output.ts'
import { releaseFolder, shown, writePrivate } from '../record/private-file.ts'
import { readTarget } from '../settings/operator.ts'
import type { Service } from '../settings/services.ts'
import { configVarsFile, gatherConfigVars } from './gather.ts'
import { instructions } from './instructions.ts'

/** `./orderflow export order`: writes the config vars and the manual steps of a release, and says what is to be filled in. */
export async function exportService(service: Service, env: NodeJS.ProcessEnv, out: Output): Promise<void> {
  const target = readTarget(env)
  const { vars, problems } = await gatherConfigVars(service, env, out)
  const varsFile = configVarsFile(service, env)
  const stepsFile = join(releaseFolder(env), service.appName, 'instructions.md')
  writePrivate(varsFile, `${JSON.stringify(vars, null, 2)}\n`)
  writePrivate(stepsFile, instructions({ service, target, configVarsFile: varsFile }))
  out.print(`${shown(varsFile)}    ${Object.keys(vars).length} config vars, secrets among them: for your eyes only`)
  out.print(`${shown(stepsFile)}    the steps of a release by hand`)
  out.print()
  if (problems.length > 0) {
    out.print(`To be filled in, in ${shown(varsFile)} or as environment variables:`)
    for (const problem of problems) out.print(`  - ${problem}`)
    out.print()
  }
  out.print(`next: ./orderflow release ${service.name} --app name-of-your-app --dry-run`)
}
