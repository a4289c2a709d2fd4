import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { repository } from '../../../src/application/paths.ts'
import { CliError } from '../../../src/base/error.ts'
import { runTool } from '../../../src/base/run-tool.ts'
import { createOutput } from '../../../src/release/output.ts'
import { releaseFolder } from '../../../src/release/record.ts'
import { type Rehearsal, startRehearsal } from './rehearsal.ts'

/** The folder whose services are released: this clone, or an application. */
const application = resolve(process.env.DIR || repository)
const { services } = JSON.parse(readFileSync(join(application, 'services.json'), 'utf8')) as { services: object }
const apps = Object.keys(services).map((service) => {
  const name = service.replace(/-service$/, '')
  return { name, app: `my-${name}` }
})
const out = createOutput()

async function run(): Promise<void> {
  const stopped = Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal)))
  const folder = join(releaseFolder(process.env), 'rehearsal')
  const stacks = Object.fromEntries(apps.map(({ app }) => [app, 'container']))
  const rehearsal = await startRehearsal({ folder, apps: stacks, onProgress: out.progress })
  try {
    await offer(rehearsal, folder)
    await stopped
  } finally {
    out.print('removing all of it')
    await rehearsal.close()
    rmSync(folder, { recursive: true })
  }
}

/** Creates the topics of the application, and prints the commands of a release. */
async function offer({ env, kafka }: Rehearsal, folder: string): Promise<void> {
  const reachable = { ...env, Stream__Brokers: kafka.bootstrapBrokers.join() }
  await runTool('./orderflow', ['release-topics'], { cwd: application, env: reachable })
  const file = join(folder, 'env')
  // curl needs this variable for the manual steps.
  const trusting = { CURL_CA_BUNDLE: env.NODE_EXTRA_CA_CERTS }
  const lines = Object.entries({ ...env, ...trusting }).map(([name, value]) => `export ${name}='${value}'\n`)
  writeFileSync(file, lines.join(''), { mode: 0o600 })
  out.print(`
The rehearsal is ready, with apps ${apps.map(({ app }) => app).join(', ')}. In another terminal:

    cd ${application}
    . ${file}
    printenv ACCESS_TOKEN | docker login --username=_ --password-stdin "$PLATFORM_REGISTRY"
    export Auth__ApiKeys="$(cat .stack/auth/api-keys.json)"   # of ./orderflow api-key create
${apps.map(stepsOf).join('\n')}

--dry-run shows what a release would do. The topics are there. Released containers reach Kafka and MongoDB by names of their own
network, which this machine does not know. Ctrl-C here ends it and removes all of it.`)
}

function stepsOf({ name, app }: { name: string; app: string }): string {
  const commands = [`export ${name}`, `release ${name} --app ${app}`, `open ${name} --app ${app}`]
  return commands.map((command) => `    ./orderflow ${command}`).join('\n')
}

await run().catch((error: unknown) => {
  if (!(error instanceof CliError)) throw error
  out.complain(`error: ${error.message}`)
  if (error.nextStep) out.complain(`next: ${error.nextStep}`)
  process.exitCode = 1
})
process.exit()
