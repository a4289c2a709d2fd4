import { randomBytes } from 'node:crypto'
import { appendFileSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defaultPorts, docker, entryOf, freePorts, services, testFolder } from '@orderflow/cli'
import { getContainerRuntimeClient, getReaper } from 'testcontainers'
import type { OperatedStack } from '../specs/commands.ts'
import { copyRepository } from '../support/checkouts/repository-copy.ts'
import { openStores, type Stores } from '../support/stores.ts'
import { inspectContainers, openContainer } from './container.ts'
import { controlContainers } from './container-control.ts'
import { type ComposeSettings, composeSettings, portVariables } from './settings.ts'

export interface RunningContainers extends OperatedStack {
  project: string
  settings: ComposeSettings
  stores: Stores
  log: () => Promise<string>
}

const logFile = join(testFolder('containers'), 'containers.log')

/**
 * Starts the stack in a new copy of this checkout, with free ports and its own Compose project. If this process is killed, the reaper of
 * Testcontainers removes the stack.
 */
export async function startContainers(): Promise<RunningContainers> {
  const ports = await freePorts()
  const project = `orderflow-test-${randomBytes(4).toString('hex')}`
  const reaper = await getReaper(await getContainerRuntimeClient())
  reaper.addComposeProject(project)
  const copy = copyRepository()
  rmSync(logFile, { force: true })
  const env = { STACK: 'docker', COMPOSE_PROJECT_NAME: project, ...portVariables(ports) }
  const log = () => docker('compose', '-p', project, 'logs', '--no-color', '--timestamps')
  const make: RunningContainers['make'] = async (...args) => {
    if (args[0] === 'down') await keepLog()
    return copy.run('make', ['--no-print-directory', ...args], env)
  }
  const orderflow: RunningContainers['orderflow'] = (args, more) => copy.run('./orderflow', args, { ...env, ...more })
  /** Docker deletes the logs of a container together with the container. */
  async function keepLog(): Promise<void> {
    mkdirSync(dirname(logFile), { recursive: true })
    appendFileSync(logFile, await log())
  }
  let stores: Stores | undefined
  async function stop(): Promise<void> {
    await stores?.close()
    await make('down')
    await orderflow(['clean'])
    copy.remove()
  }

  try {
    const { code, stdout, stderr } = await make('up')
    if (code !== 0) throw new Error(`make up exited with ${code}:\n${stdout}${stderr}`)
    const settings = composeSettings(join(copy.folder, '.env'), ports)
    stores = openStores(settings.storeUri)
    const { ask, kill, restart } = controlContainers(project, settings.addresses.kafka, stores)
    const readCertificate = 'process.stdout.write(fs.readFileSync(process.env.Web__CertificateFile))'
    return {
      ...settings.addresses,
      tokens: settings.tokens,
      signingKeys: entryOf(settings.secrets, 'SIGNING_KEYS'),
      project,
      settings,
      stores,
      certificate: await (await openContainer(project, services[0]?.name ?? '')).exec(['node', '-e', readCertificate]),
      askInside: (service, listener, path, request) => {
        const { channel, daprHttp } = entryOf(defaultPorts.services, service)
        return ask(service, listener === 'channel' ? channel : daprHttp, path, request)
      },
      kill,
      restart,
      make,
      orderflow,
      async parts() {
        const running = (await inspectContainers(project)).filter(({ State }) => State.Running)
        const label = 'com.docker.compose.service'
        return Object.fromEntries(running.map(({ Config, State }) => [Config.Labels[label] ?? '', State.StartedAt]))
      },
      log,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
