import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sidecarTraceVariables } from '@orderflow/service-kit/setup'
import { hostedProblems } from './hosted-settings.ts'
import { serviceProblems } from './service-settings.ts'

// `start` runs this program first, in the service's folder. The program reports all problems of the environment variables. If all are valid, it
// prints defaults for the sidecar's missing variables, as lines of NAME=value.

type Variables = Record<string, string | undefined>

const folder = process.cwd()
const missing = sidecarDefaults(process.env)
const problems = await problemsOf({ ...process.env, ...missing })
if (problems.length > 0) {
  process.stderr.write(`error: settings are not usable:\n${problems.map((problem) => `  - ${problem}\n`).join('')}`)
  process.stderr.write(
    'next: set them as environment variables of this container (config vars of the hosting platform)\n',
  )
  process.exit(1)
}
const told = { ...missing, ...sidecarTraceVariables(process.env) }
for (const [name, value] of Object.entries(told)) process.stdout.write(`${name}=${value}\n`)

/** Returns defaults for the sidecar's missing variables. Leaves out the brokers of appsettings.json, because these belong to a local stack. */
function sidecarDefaults(env: Variables): Variables {
  const file = readFileSync(join(folder, 'appsettings.json'), 'utf8')
  const sections = JSON.parse(file) as Record<string, Record<string, unknown>>
  const defaults: Variables = {}
  for (const section of ['Stream', 'State']) {
    for (const [key, value] of Object.entries(sections[section] ?? {})) {
      const name = `${section}__${key}`
      if (!env[name] && name !== 'Stream__Brokers') defaults[name] = String(value)
    }
  }
  return defaults
}

async function problemsOf(env: Variables): Promise<string[]> {
  const port = env.PORT ? [] : ['PORT: is missing; set this variable']
  const own = await serviceProblems(folder, { ...env, PORT: env.PORT || undefined })
  return [...port, ...own, ...hostedProblems(env)]
}
