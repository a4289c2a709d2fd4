import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CliError } from '../../../src/lib/error.ts'
import { services } from '../../../src/lib/services.ts'
import { createOutput } from '../../../src/release/output.ts'
import { releaseFolder, shown } from '../../../src/release/record.ts'
import { startRehearsal } from './rehearsal.ts'

const apps = services.map(({ role: name }) => ({ name, app: `my-${name}` }))
const out = createOutput()

async function run(): Promise<void> {
  const stopped = Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal)))
  const folder = join(releaseFolder(process.env), 'rehearsal')
  const stacks = Object.fromEntries(apps.map(({ app }) => [app, 'container']))
  const rehearsal = await startRehearsal({ folder, apps: stacks, onProgress: out.progress })
  const file = join(folder, 'env')
  // curl needs this variable for the manual steps.
  const trusting = { CURL_CA_BUNDLE: rehearsal.env.NODE_EXTRA_CA_CERTS }
  const lines = Object.entries({ ...rehearsal.env, ...trusting }).map(([name, value]) => `export ${name}='${value}'\n`)
  writeFileSync(file, lines.join(''), { mode: 0o600 })
  out.print(`
The rehearsal is ready, with apps ${apps.map(({ app }) => app).join(', ')}. In another terminal:

    . ${shown(file)}
    printenv ACCESS_TOKEN | docker login --username=_ --password-stdin "$PLATFORM_REGISTRY"
${apps.map(stepsOf).join('\n')}

--dry-run shows what a release would do. The topics are there. Released containers reach Kafka and MongoDB by names of their own
network, which this machine does not know. Ctrl-C here ends it and removes all of it.`)
  await stopped
  out.print('removing all of it')
  await rehearsal.close()
  rmSync(folder, { recursive: true })
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
