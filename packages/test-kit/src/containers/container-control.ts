import {
  groupMembers,
  groupMissing,
  type KafkaConnection,
  kafkaMissing,
  podOf,
  type RunningStack,
  type Service,
  services,
  sidecarOf,
} from '@orderflow/stack'
import { withRetries } from '@orderflow/stack/base'
import type { Stores } from '../stacks/stores.ts'
import { openContainer } from './container.ts'

/** The name of a long-running service of docker-compose.yml. A pod is the container whose network a service and its sidecar share. */
export type ContainerName = string

function serviceOf(name: ContainerName): Service {
  const found = services.find((service) => podOf(service).includes(name))
  if (!found) throw new Error(`${name} belongs to no service`)
  return found
}

const isSidecar = (name: ContainerName) => services.some((service) => sidecarOf(service) === name)
/** Returns the name of a sidecar’s consumer group. It is the sidecar’s app-id (components/kafka.yaml). */
const groupOf = (name: ContainerName) => serviceOf(name).name

/** Controls the containers of a Compose project, with the same readiness checks as in the local stack. */
export function controlContainers(project: string, kafka: KafkaConnection, stores: Stores) {
  async function ask(
    service: string,
    port: number,
    path: string,
    request: Parameters<RunningStack['askInside']>[3] = {},
  ) {
    const script = `const { url, request } = JSON.parse(process.env.ASKED)
      const answer = await fetch(url, request)
      console.log(JSON.stringify({ status: answer.status, body: await answer.text() }))`
    const asked = JSON.stringify({ url: `http://127.0.0.1:${port}${path}`, request })
    const container = await openContainer(project, service)
    const printed = await container.exec(['node', '--no-use-env-proxy', '--input-type=module', '-e', script], {
      ASKED: asked,
    })
    return JSON.parse(printed) as { status: number; body: string }
  }

  async function missing(name: ContainerName, stale: ReadonlySet<string>): Promise<string | undefined> {
    if (name === 'kafka') return await kafkaMissing(kafka)
    if (name === 'mongo' || name === 'postgresql') {
      await stores.ping()
      return undefined
    }
    if (isSidecar(name)) return await groupMissing(kafka, groupOf(name), stale)
    const { status, body } = await ask(name, serviceOf(name).http, '/readyz')
    return status === 200 ? undefined : `/readyz answers ${status} ${body}`
  }

  async function untilReady(name: ContainerName, stale: ReadonlySet<string> = new Set()): Promise<void> {
    await withRetries(name, async () => {
      const what = await missing(name, stale)
      if (what !== undefined) throw new Error(what)
    })
  }

  return {
    ask,
    kill: async (name: ContainerName, signal: NodeJS.Signals = 'SIGKILL') =>
      (await openContainer(project, name)).kill(signal),

    /** Starts a killed container again, unless the container is a pod. */
    async restart(name: ContainerName): Promise<void> {
      const container = await openContainer(project, name)
      // A killed sidecar stays in its consumer group for a while. The new sidecar is ready only after the old members are gone.
      const stale = isSidecar(name) ? await withRetries('Kafka', () => groupMembers(kafka, [groupOf(name)])) : undefined
      await container.start()
      await untilReady(name, stale)
    },
  }
}
