import { entryOf } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { type BrokerPorts, freePort, provisionTools, startProcess } from '@orderflow/stack/internals'
import { type Link, linkTo, linkTool } from './link.ts'

/** The servers that a replica uses. A replica is a service with its sidecar. */
export const servers = ['store', 'kafka'] as const
export type Server = (typeof servers)[number]

export interface Network {
  /** Returns the addresses that a replica uses as the brokers, separated by commas. */
  kafkaOf: (replica: string) => string
  /** Returns the address that a replica uses as the store, or undefined if the store is a file. */
  storeOf: (replica: string) => string | undefined
  /** Returns the links to a server, one for each broker. */
  links: (replica: string, server: Server) => Link[]
  /** Returns the settings of a broker, with which each replica reconnects through its own link. */
  brokerSettings: (broker: string) => Record<string, string>
  start: (folder: string) => Promise<void>
}

/**
 * Creates a link from each replica to each server.
 * @param brokers the ports of each broker, by name
 * @param store the `host:port` of the store’s server, or undefined if the store is a file
 */
export async function createNetwork(
  replicas: readonly string[],
  brokers: Readonly<Record<string, BrokerPorts>>,
  store: string | undefined,
): Promise<Network> {
  const network = new Map<string, Link[]>()
  const key = (replica: string, server: Server) => `${replica} to ${server}`
  const add = async (replica: string, server: Server, name: string, upstream: string) => {
    const link = await linkTo(upstream, `${replica}-to-${name}`)
    network.set(key(replica, server), [...(network.get(key(replica, server)) ?? []), link])
    return link.address
  }
  // A client always reconnects to the listener’s advertised address.
  const listeners: Record<string, { name: string; at: string; advertised: string }[]> = {}
  for (const [broker, { broker: port }] of Object.entries(brokers)) {
    const own = `127.0.0.1:${port}`
    const ofBroker = [{ name: 'PLAINTEXT', at: own, advertised: own }]
    for (const [index, replica] of replicas.entries()) {
      const at = `127.0.0.1:${await freePort()}`
      ofBroker.push({ name: `LINK${index}`, at, advertised: await add(replica, 'kafka', broker, at) })
    }
    listeners[broker] = ofBroker
  }
  for (const replica of store ? replicas : []) await add(replica, 'store', 'store', store as string)

  function links(replica: string, server: Server): Link[] {
    const found = network.get(key(replica, server))
    if (!found) throw new Error(`${replica} has no network to ${server}`)
    return found
  }
  return {
    kafkaOf: (replica) =>
      links(replica, 'kafka')
        .map(({ address }) => address)
        .join(),
    storeOf: (replica) => network.get(key(replica, 'store'))?.[0]?.address,
    links,
    brokerSettings(broker) {
      const own = entryOf(listeners, broker)
      const controller = `CONTROLLER://127.0.0.1:${entryOf(brokers, broker).controller}`
      const controllers = Object.keys(brokers).length > 1 ? 'SASL_PLAINTEXT' : 'PLAINTEXT'
      const protocols = [`CONTROLLER:${controllers}`, ...own.map(({ name }) => `${name}:PLAINTEXT`)]
      return {
        listeners: [...own.map(({ name, at }) => `${name}://${at}`), controller].join(),
        'advertised.listeners': own.map(({ name, advertised }) => `${name}://${advertised}`).join(),
        'listener.security.protocol.map': protocols.join(),
      }
    },
    async start(folder) {
      await provisionTools([linkTool], { onProgress: () => {} })
      const all = [...network.values()].flat()
      for (const { spec } of all) startProcess(folder, spec)
      const answers = ({ open }: Link) =>
        eventually(
          () =>
            open().then(
              () => true,
              () => false,
            ),
          'the network to be there',
        )
      await Promise.all(all.map(answers))
    },
  }
}
