import { defaultPorts, type InnerRequest, type KafkaConnection } from '@orderflow/stack'
import type { MongoClient } from 'mongodb'
import { groupMembers, groupMissing, kafkaMissing, type Missing } from '../../stack/src/kafka/readiness.ts'
import { withRetries } from '../../stack/src/lib/with-retries.ts'
import { openContainer } from './container.ts'

/** The services of docker-compose.yml that run on. A pod is the network that a service and its sidecar share. */
export type ContainerName = 'kafka' | 'mongo' | `${'order' | 'payment'}-${'pod' | 'service' | 'sidecar'}`

const roleOf = (name: ContainerName) => (name.startsWith('order-') ? 'order' : 'payment')
/** A sidecar's consumer group is its app-id (components/kafka.yaml). */
const groupOf = (name: ContainerName) => `${roleOf(name)}-service`

/** Control over the containers of a project; ready means the same as for the local stack. */
export function controlContainers(project: string, kafka: KafkaConnection, mongo: MongoClient) {
  /** Sends a request from inside a service's container. */
  async function ask(role: 'order' | 'payment', port: number, path: string, request: InnerRequest = {}) {
    const script = `const { url, request } = JSON.parse(process.env.ASKED)
      const answer = await fetch(url, request)
      console.log(JSON.stringify({ status: answer.status, body: await answer.text() }))`
    const asked = JSON.stringify({ url: `http://127.0.0.1:${port}${path}`, request })
    const container = await openContainer(project, `${role}-service`)
    const printed = await container.exec(['node', '--input-type=module', '-e', script], { ASKED: asked })
    return JSON.parse(printed) as { status: number; body: string }
  }

  async function missing(name: ContainerName, stale: ReadonlySet<string>): Promise<Missing> {
    if (name === 'kafka') return await kafkaMissing(kafka)
    if (name === 'mongo') await mongo.db().command({ ping: 1 })
    if (name === 'mongo' || name.endsWith('-pod')) return undefined
    if (name.endsWith('-sidecar')) return await groupMissing(kafka, groupOf(name), stale)
    const { status, body } = await ask(roleOf(name), defaultPorts[roleOf(name)].http, '/readyz')
    return status === 200 ? undefined : `/readyz answers ${status} ${body}`
  }

  async function untilReady(names: readonly ContainerName[], stale: ReadonlySet<string> = new Set()): Promise<void> {
    await Promise.all(
      names.map((name) => {
        const probe = async () => {
          const what = await missing(name, stale)
          if (what !== undefined) throw new Error(what)
        }
        return withRetries(name, probe)
      }),
    )
  }

  return {
    ask,
    untilReady,
    kill: async (name: ContainerName, signal: NodeJS.Signals = 'SIGKILL') =>
      (await openContainer(project, name)).kill(signal),

    async restart(name: ContainerName): Promise<void> {
      // Who joined a pod's network has to join the new one.
      const companions = ['sidecar', 'service'].map((part) => name.replace('pod', part) as ContainerName)
      const names = name.endsWith('-pod') ? [name, ...companions] : [name]
      const containers = await Promise.all(names.map((part) => openContainer(project, part)))
      await Promise.all(containers.map((container) => container.stop()))
      // Members of a killed sidecar hold its partitions for a while; a sidecar we start is ready only without them.
      const groups = names.filter((part) => part.endsWith('-sidecar')).map(groupOf)
      const stale = groups.length > 0 ? await withRetries('Kafka', () => groupMembers(kafka, groups)) : undefined
      for (const container of containers) await container.start()
      await untilReady(names, stale)
    },
  }
}
