import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { isSecretName } from '@orderflow/service-kit/setup'
import type { Service } from '../application/services.ts'
import { CliError } from '../base/error.ts'
import { type ConfigVars, type Resolved, resolveConfigVars, secretsOf } from './config-vars.ts'
import type { Output } from './output.ts'
import { readPrivate, releaseFolder, shown } from './record.ts'

export function configVarsFile(service: Service, env: NodeJS.ProcessEnv): string {
  return join(releaseFolder(env), service.name, 'config-vars.json')
}

/**
 * Returns the config vars of `resolveConfigVars`. On a terminal, it first prompts for missing values. Afterwards, `out` masks the secrets in all
 * output.
 */
export async function gatherConfigVars(service: Service, env: NodeJS.ProcessEnv, out: Output): Promise<Resolved> {
  const earlier = readPrivate<ConfigVars>(configVarsFile(service, env)) ?? {}
  let resolved = await resolveConfigVars(service, env, earlier)
  const answers: ConfigVars = {}
  while (process.stdin.isTTY && process.stderr.isTTY) {
    // An answer may make another value necessary: for example, an issuer requires an audience.
    const asked = Object.keys(answers).length
    await askFor(resolved, answers)
    if (Object.keys(answers).length === asked) break
    resolved = await resolveConfigVars(service, { ...env, ...answers }, earlier)
  }
  out.hide(secretsOf(resolved.vars))
  return resolved
}

/** @throws {CliError} `settings` with a line for each missing or invalid config var */
export async function requireConfigVars(service: Service, env: NodeJS.ProcessEnv, out: Output): Promise<ConfigVars> {
  const { vars, problems } = await gatherConfigVars(service, env, out)
  if (problems.length === 0) return vars
  const list = problems.map((problem) => `  - ${problem}`).join('\n')
  throw new CliError('settings', `config vars of ${service.name} are not usable:\n${list}`, {
    nextStep: `set them as environment variables, or in ${shown(configVarsFile(service, env))}, and run this again`,
  })
}

/** Prompts once for each missing or invalid value, and adds the answer to `answers`. */
async function askFor({ vars, problems }: Resolved, answers: ConfigVars): Promise<void> {
  const names = new Set(problems.map((problem) => problem.split(':')[0] ?? '').filter((name) => name in vars))
  for (const name of names) answers[name] ??= await ask(`${name}: `, { secret: isSecretName(name) })
}

async function ask(question: string, options: { secret: boolean }): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const output = options.secret ? silent : process.stderr
  // Creates the interface before it prints the question, because creating it switches off the terminal's echo.
  const terminal = createInterface({ input: process.stdin, output, terminal: true })
  if (options.secret) process.stderr.write(question)
  terminal.once('SIGINT', () => process.exit(130))
  try {
    return (await terminal.question(options.secret ? '' : question)).trim()
  } finally {
    terminal.close()
    if (options.secret) process.stderr.write('\n')
  }
}
