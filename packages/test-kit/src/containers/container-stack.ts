import { randomBytes } from 'node:crypto'
import { appendFileSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Brokers, defaultPorts, entryOf, freePorts, operateProgram, services } from '@orderflow/stack'
import { testFolder } from '@orderflow/stack/base'
import { docker, ensureImages, images } from '@orderflow/stack/machine'
import { getContainerRuntimeClient, getReaper } from 'testcontainers'
import { createOperator, type TestStack } from '../operator.ts'
import type { ApplicationCopy, Ended } from '../stacks/index.ts'
import { openStores, type Stores } from '../stacks/stores.ts'
import { type ComposeSettings, composeSettings, portVariables } from './compose-settings.ts'
import { openContainer } from './container.ts'
import { controlContainers } from './container-control.ts'

export interface ContainerStack extends TestStack {
  project: string
  settings: ComposeSettings
  stores: Stores
  log: () => Promise<string>
  /** Adds the log to a file. Call it before containers are removed, because Docker deletes their logs, too. */
  keepLog: () => Promise<void>
  /** The variables with which a command in the copy uses this stack. */
  variables: Record<string, string>
}

const logFile = join(testFolder('containers'), 'containers.log')

/**
 * Starts the stack of a copy of the application, with free ports and its own Compose project. `stop` removes the copy. If this process is
 * killed, the reaper of Testcontainers removes the stack.
 */
export async function startContainers(copy: ApplicationCopy, brokers: Brokers = 1): Promise<ContainerStack> {
  const ports = await freePorts()
  const project = `orderflow-test-${randomBytes(4).toString('hex')}`
  await ensureImages({ onProgress: () => {}, signal: undefined }, [images.reaper])
  const reaper = await getReaper(await getContainerRuntimeClient())
  reaper.addComposeProject(project)
  rmSync(logFile, { force: true })
  const named = { STACK: 'docker', BROKERS: String(brokers), COMPOSE_PROJECT_NAME: project }
  const variables = { ...named, ...portVariables(ports) }
  const orderflow = (command: string): Promise<Ended> => copy.run('./orderflow', [command], variables)
  const log = () => docker('compose', '-p', project, 'logs', '--no-color', '--timestamps')
  async function keepLog(): Promise<void> {
    mkdirSync(dirname(logFile), { recursive: true })
    appendFileSync(logFile, await log())
  }
  let stores: Stores | undefined
  async function stop(): Promise<void> {
    await stores?.close()
    await keepLog()
    await orderflow('down')
    await orderflow('clean')
    copy.remove()
  }

  try {
    const { code, stdout, stderr } = await orderflow('up')
    if (code !== 0) throw new Error(`the stack did not start, exit code ${code}:\n${stdout}${stderr}`)
    const settings = composeSettings(join(copy.folder, '.env'), ports, brokers)
    const opened = openStores(settings.storeUri)
    stores = opened
    const { ask, kill, restart } = controlContainers(project, settings.addresses.kafka, opened)
    const readCertificate = 'process.stdout.write(fs.readFileSync(process.env.Web__CertificateFile))'
    return {
      ...settings.addresses,
      tokens: settings.tokens,
      signingKeys: entryOf(settings.secrets, 'SIGNING_KEYS'),
      project,
      settings,
      stores: opened,
      certificate: await (await openContainer(project, services[0]?.name ?? '')).exec(['node', '-e', readCertificate]),
      askInside: (service, listener, path, request) => {
        const { channel, daprHttp } = entryOf(defaultPorts.services, service)
        return ask(service, listener === 'channel' ? channel : daprHttp, path, request)
      },
      kill,
      restart,
      // Runs operators’ commands in containers. A rebuild uses the running sidecar, as `make rebuild` does.
      operator: createOperator(settings.addresses, {
        withStores: (work) => work(opened),
        whileStopped: (_, work) => work(),
        rebuild: async (service, args) =>
          (await openContainer(project, service)).exec(['node', operateProgram, 'rebuild', ...args]),
      }),
      log,
      keepLog,
      variables,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
