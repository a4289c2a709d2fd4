import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultPorts, type InnerRequest, type RunningStack, repository, testFolder } from '@orderflow/stack'
import { MongoClient } from 'mongodb'
import { DockerComposeEnvironment, Wait } from 'testcontainers'
import { groupMembers, groupMissing, kafkaMissing, type Missing } from '../../stack/src/readiness.ts'
import { runTool } from '../../stack/src/run-tool.ts'
import { eventually } from '../support/eventually.ts'
import { openContainer } from './container.ts'
import { composeSettings } from './settings.ts'

/** The services of docker-compose.yml that run on. A pod is the network that a service and its sidecar share. */
export type ContainerName = 'kafka' | 'mongo' | `${'order' | 'payment'}-${'pod' | 'service' | 'sidecar'}`

/** A stack of containers, and what only containers have. */
export interface RunningContainers extends RunningStack<ContainerName> {
  /** A client of the sidecars' database server. */
  mongo: MongoClient
  project: string
}

const readyTimeoutMs = 60_000

/** Starts the repository's own docker-compose.yml as a project beside any other. It goes when this process ends, however it ends. */
export async function startContainers(): Promise<RunningContainers> {
  const { variables, tokens, urls, kafka, mongoUri } = await composeSettings()
  const project = `orderflow-test-${randomBytes(4).toString('hex')}`
  const environment = await new DockerComposeEnvironment(repository, 'docker-compose.yml')
    .withProjectName(project)
    // Not the .env of a `make up` here.
    .withEnvironmentFile('/dev/null')
    .withEnvironment(variables)
    // What ready means is the same as for the local stack, below.
    .withDefaultWaitStrategy(Wait.forAll([]))
    .up()
  const mongo = new MongoClient(mongoUri, { serverSelectionTimeoutMS: 5_000 })

  async function ask(name: ContainerName, port: number, path: string, request: InnerRequest = {}) {
    const script = `const { url, request } = JSON.parse(process.env.ASKED)
      const answer = await fetch(url, request)
      console.log(JSON.stringify({ status: answer.status, body: await answer.text() }))`
    const asked = JSON.stringify({ url: `http://127.0.0.1:${port}${path}`, request })
    const container = await openContainer(project, name)
    const printed = await container.exec(['node', '--input-type=module', '-e', script], { ASKED: asked })
    return JSON.parse(printed) as { status: number; body: string }
  }

  async function missing(name: ContainerName, stale: ReadonlySet<string>): Promise<Missing> {
    if (name === 'kafka') return await kafkaMissing(kafka)
    if (name === 'mongo') await mongo.db().command({ ping: 1 })
    if (name.endsWith('-pod')) return undefined
    if (name.endsWith('-sidecar')) return await groupMissing(kafka, groupOf(name), stale)
    const { status } = await ask(name, defaultPorts[roleOf(name)].http, '/readyz')
    return status === 200 ? undefined : `/readyz answers ${status}`
  }

  async function untilReady(names: readonly ContainerName[], stale: ReadonlySet<string>): Promise<void> {
    const wait = async (name: ContainerName) => {
      let last: Missing
      const probe = async () => {
        last = await missing(name, stale).catch(String)
        return last === undefined || undefined
      }
      await eventually(probe, `${name} to be ready`, readyTimeoutMs).catch((error: Error) => {
        throw new Error(`${error.message}: ${last}`)
      })
    }
    await Promise.all(names.map(wait))
  }

  async function restart(name: ContainerName): Promise<void> {
    // Who joined a pod's network has to join the new one.
    const companions = name.endsWith('-pod') ? [sidecarOf(name), serviceOf(name)] : []
    const stopping = [name, ...companions]
    await Promise.all(stopping.map(async (part) => (await openContainer(project, part)).stop()))
    const sidecars = stopping.filter((part) => part.endsWith('-sidecar'))
    const stale = sidecars.length > 0 ? await groupMembers(kafka, sidecars.map(groupOf)) : new Set<string>()
    for (const part of stopping) await (await openContainer(project, part)).start()
    await untilReady(stopping, stale)
  }

  await untilReady(['order-service', 'order-sidecar', 'payment-service', 'payment-sidecar'], new Set())
  const readCertificate = 'process.stdout.write(fs.readFileSync(process.env.Web__CertificateFile))'
  return {
    ...urls,
    kafka,
    tokens,
    mongo,
    project,
    certificate: await (await openContainer(project, 'order-service')).exec(['node', '-e', readCertificate]),
    askInside: (role, listener, path, request) => {
      const { channel, daprHttp } = defaultPorts[role]
      return ask(`${role}-service`, listener === 'channel' ? channel : daprHttp, path, request)
    },
    kill: async (name, signal = 'SIGKILL') => (await openContainer(project, name)).kill(signal),
    restart,
    async stop() {
      await mongo.close()
      await keepLog(project)
      await environment.down()
    },
  }
}

const roleOf = (name: ContainerName) => (name.startsWith('order-') ? 'order' : 'payment')
/** A sidecar's consumer group is its app-id (components/kafka.yaml). */
const groupOf = (name: ContainerName) => `${roleOf(name)}-service`
const sidecarOf = (name: ContainerName): ContainerName => `${roleOf(name)}-sidecar`
const serviceOf = (name: ContainerName): ContainerName => `${roleOf(name)}-service`

/** Containers take their logs with them. */
async function keepLog(project: string): Promise<void> {
  const folder = testFolder('containers')
  mkdirSync(folder, { recursive: true })
  const log = await runTool('docker', ['compose', '-p', project, 'logs', '--no-color', '--timestamps'], { cwd: folder })
  writeFileSync(join(folder, 'containers.log'), log)
}
