import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  defaultPorts,
  entryOf,
  type RunningStack,
  repository,
  runTool,
  services,
  sidecarOf,
  testFolder,
} from '@orderflow/stack'
import { docker, writeReplicas } from '@orderflow/stack/containers'
import { MongoClient } from 'mongodb'
import { DockerComposeEnvironment, type StartedDockerComposeEnvironment, Wait } from 'testcontainers'
import { openContainer } from './container.ts'
import { controlContainers } from './container-control.ts'
import { type ComposeSettings, composeSettings } from './settings.ts'

/** A stack of containers, and what only containers have. */
export interface RunningContainers extends RunningStack {
  /** The Compose project, by which its containers are found. */
  project: string
  settings: ComposeSettings
  /** A client of the sidecars' database server. */
  mongo: MongoClient
  /** Runs a service `count` times, as `make scale` does. */
  scale: (service: string, count: number) => Promise<void>
  /** What all containers have printed so far. */
  log: () => Promise<string>
}

const folder = testFolder('containers')
const composeFile = 'docker-compose.yml'
/** Not the .env of a `make up` here. */
const noEnvFile = '/dev/null'

/** Builds the services' own images, of which only what has changed takes time. */
export async function buildImages(): Promise<void> {
  const { variables } = await composeSettings()
  const args = ['compose', '--env-file', noEnvFile, '-f', composeFile, 'build', '--quiet']
  await runTool('docker', args, { cwd: repository, env: variables })
}

/**
 * Starts the repository's own docker-compose.yml, as a project beside any other. When this process is killed, the reaper of
 * Testcontainers removes it.
 * @param suite names the project and the file that keeps its logs
 */
export async function startContainers(suite: string): Promise<RunningContainers> {
  const settings = await composeSettings()
  const { addresses, tokens } = settings
  const { kafka } = addresses
  const project = `orderflow-test-${suite}-${randomBytes(4).toString('hex')}`
  let environment = await up(project, settings, [composeFile])
  const mongo = new MongoClient(settings.mongoUri, { serverSelectionTimeoutMS: 5_000 })
  const log = () => docker('compose', '-p', project, 'logs', '--no-color', '--timestamps')
  async function stop(): Promise<void> {
    await mongo.close()
    // Containers take their logs with them.
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `${suite}.log`), await log())
    await environment.down()
  }

  try {
    const { ask, untilReady, kill, restart } = controlContainers(project, kafka, mongo)
    await untilReady(services.flatMap((service) => [service.name, sidecarOf(service)]))
    const readCertificate = 'process.stdout.write(fs.readFileSync(process.env.Web__CertificateFile))'
    return {
      ...addresses,
      tokens,
      project,
      settings,
      mongo,
      certificate: await (await openContainer(project, services[0]?.name ?? '')).exec(['node', '-e', readCertificate]),
      askInside: (service, listener, path, request) => {
        const { channel, daprHttp } = entryOf(defaultPorts.services, service)
        return ask(service, listener === 'channel' ? channel : daprHttp, path, request)
      },
      kill,
      restart,
      async scale(service, count) {
        const replicas = join(folder, `${suite}-replicas.json`)
        await writeReplicas({ [service]: count }, replicas)
        environment = await up(project, settings, [composeFile, replicas])
      },
      log,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

function up(
  project: string,
  { variables }: ComposeSettings,
  files: string[],
): Promise<StartedDockerComposeEnvironment> {
  return (
    new DockerComposeEnvironment(repository, files)
      .withProjectName(project)
      .withEnvironmentFile(noEnvFile)
      .withEnvironment(variables)
      // We wait ourselves: for what the local stack waits for, too.
      .withDefaultWaitStrategy(Wait.forAll([]))
      .up()
  )
}
