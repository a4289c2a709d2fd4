import { type Link, linkTo, linkTool } from '@orderflow/bench/link'
import { eventually, freePort, provisionTools, startProcess } from '@orderflow/cli'

/** The servers that a replica uses. A replica is a service with its sidecar. */
export const servers = ['store', 'kafka'] as const
export type Server = (typeof servers)[number]

export interface Network {
  /** Returns the address that a replica uses as the broker. */
  kafkaOf: (replica: string) => string
  /** Returns the address that a replica uses as the store, or undefined if the store is a file. */
  storeOf: (replica: string) => string | undefined
  link: (replica: string, server: Server) => Link
  /** Settings of the broker, with which each replica reconnects through its own link. */
  brokerSettings: Record<string, string>
  start: (folder: string) => Promise<void>
}

/**
 * Creates a link from each replica to each server.
 * @param kafka the ports of the broker
 * @param store the `host:port` of the store’s server, or undefined if the store is a file
 */
export async function createNetwork(
  replicas: readonly string[],
  kafka: { kafka: number; kafkaController: number },
  store: string | undefined,
): Promise<Network> {
  const links = new Map<string, Link>()
  const name = (replica: string, server: Server) => `${replica}-to-${server}`
  const add = async (replica: string, server: Server, upstream: string) => {
    const link = await linkTo(upstream, name(replica, server))
    links.set(link.spec.name, link)
    return link.address
  }
  // A client always reconnects to the listener’s advertised address.
  const listeners = [{ name: 'PLAINTEXT', at: `127.0.0.1:${kafka.kafka}`, advertised: `127.0.0.1:${kafka.kafka}` }]
  for (const [index, replica] of replicas.entries()) {
    const at = `127.0.0.1:${await freePort()}`
    listeners.push({ name: `LINK${index}`, at, advertised: await add(replica, 'kafka', at) })
    if (store) await add(replica, 'store', store)
  }
  const controller = `CONTROLLER://127.0.0.1:${kafka.kafkaController}`
  const protocols = ['CONTROLLER', ...listeners.map(({ name }) => name)].map((name) => `${name}:PLAINTEXT`)

  function link(replica: string, server: Server): Link {
    const found = links.get(name(replica, server))
    if (!found) throw new Error(`${replica} has no network to ${server}`)
    return found
  }
  return {
    kafkaOf: (replica) => link(replica, 'kafka').address,
    storeOf: (replica) => links.get(name(replica, 'store'))?.address,
    link,
    brokerSettings: {
      listeners: [...listeners.map(({ name, at }) => `${name}://${at}`), controller].join(),
      'advertised.listeners': listeners.map(({ name, advertised }) => `${name}://${advertised}`).join(),
      'listener.security.protocol.map': protocols.join(),
    },
    async start(folder) {
      await provisionTools([linkTool], { onProgress: () => {} })
      for (const { spec } of links.values()) startProcess(folder, spec)
      const answers = ({ open }: Link) =>
        eventually(
          () =>
            open().then(
              () => true,
              () => false,
            ),
          'the network to be there',
        )
      await Promise.all([...links.values()].map(answers))
    },
  }
}
