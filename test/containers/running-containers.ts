import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultPorts, type RunningStack, repository, testFolder } from '@orderflow/stack'
import { MongoClient } from 'mongodb'
import { DockerComposeEnvironment, Wait } from 'testcontainers'
import { runTool } from '../../stack/src/run-tool.ts'
import { openContainer } from './container.ts'
import { type ContainerName, controlContainers } from './container-control.ts'
import { composeSettings } from './settings.ts'

/** A stack of containers, and what only containers have. */
export interface RunningContainers extends RunningStack<ContainerName> {
  /** A client of the sidecars' database server. */
  mongo: MongoClient
  /** The Compose project, by which its containers are found. */
  project: string
}

/** Starts the repository's own docker-compose.yml as a project beside any other. It goes when this process ends, however it ends. */
export async function startContainers(): Promise<RunningContainers> {
  const { variables, tokens, urls, kafka, mongoUri } = await composeSettings()
  const project = `orderflow-test-${randomBytes(4).toString('hex')}`
  const environment = await new DockerComposeEnvironment(repository, 'docker-compose.yml')
    .withProjectName(project)
    // Not the .env of a `make up` here.
    .withEnvironmentFile('/dev/null')
    .withEnvironment(variables)
    // We wait ourselves, below.
    .withDefaultWaitStrategy(Wait.forAll([]))
    .up()
  const mongo = new MongoClient(mongoUri, { serverSelectionTimeoutMS: 5_000 })
  async function stop(): Promise<void> {
    await mongo.close()
    await keepLog(project)
    await environment.down()
  }

  try {
    const { ask, untilReady, kill, restart } = controlContainers(project, kafka, mongo)
    await untilReady(['order-service', 'order-sidecar', 'payment-service', 'payment-sidecar'])
    const certificate = 'process.stdout.write(fs.readFileSync(process.env.Web__CertificateFile))'
    return {
      ...urls,
      kafka,
      tokens,
      mongo,
      project,
      certificate: await (await openContainer(project, 'order-service')).exec(['node', '-e', certificate]),
      askInside: (role, listener, path, request) => {
        const { channel, daprHttp } = defaultPorts[role]
        return ask(role, listener === 'channel' ? channel : daprHttp, path, request)
      },
      kill,
      restart,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Containers take their logs with them. */
async function keepLog(project: string): Promise<void> {
  const folder = testFolder('containers')
  mkdirSync(folder, { recursive: true })
  const log = await runTool('docker', ['compose', '-p', project, 'logs', '--no-color', '--timestamps'], { cwd: folder })
  writeFileSync(join(folder, 'containers.log'), log)
}
