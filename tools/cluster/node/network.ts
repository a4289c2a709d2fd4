import { runTool } from '@orderflow/stack/base'
import { type Node, runInNode } from './node.ts'

// The nodes are ports of a bridge in the first node. A pair of virtual devices connects the bridge with this machine, so that processes of this
// machine reach the API server, Services and pods.

export const serviceCidr = '10.96.0.0/16'
export const podsCidr = '10.244.0.0/16'
export const dnsAddress = '10.96.0.10'
export const kubernetesAddress = '10.96.0.1'
/** The address of this machine in the network of the nodes. */
export const hostAddress = '10.89.0.254'

/** The device of this machine. */
const hostDevice = 'orderflow0'

/** Returns the address and the pods of a node, by its number from 1. */
export const networkOf = (number: number) => ({
  address: `10.89.0.${number}`,
  podCidr: `10.244.${number}.0/24`,
})

const ip = (command: string) => runTool('ip', command.split(' '), { cwd: '/' })

/** Connects the first node with this machine. */
export async function connectHost(node: Node): Promise<void> {
  await ip(`link add ${hostDevice} type veth peer name host0 netns ${node.pid}`)
  await ip(`address add ${hostAddress}/24 dev ${hostDevice}`)
  await ip(`link set ${hostDevice} up`)
  const lines = [
    'ip link add nodes type bridge',
    `ip address add ${node.address}/24 dev nodes`,
    'ip link set nodes up',
    'ip link set host0 master nodes up',
    // Without a default route, the kernel refuses addresses of Services before iptables can replace them.
    `ip route add default via ${hostAddress}`,
  ]
  await runInNode(node, lines)
  for (const range of [serviceCidr, podsCidr]) await ip(`route add ${range} via ${node.address}`)
}

/** Connects a further node with the bridge, and the pods of all nodes with each other. */
export async function connectNode(node: Node, others: readonly Node[]): Promise<void> {
  const [first] = others
  if (!first) throw new Error(`${node.name} needs a first node`)
  const [port, peer] = [`${node.name}-port`.slice(-15), `${node.name}-peer`.slice(-15)]
  await ip(`link add ${port} netns ${first.pid} type veth peer name ${peer} netns ${node.pid}`)
  await runInNode(first, [`ip link set ${port} master nodes up`])
  await runInNode(node, [
    `ip address add ${node.address}/24 dev ${peer}`,
    `ip link set ${peer} up`,
    `ip route add default via ${hostAddress}`,
  ])
  for (const other of others) {
    await runInNode(other, [`ip route add ${node.podCidr} via ${node.address}`])
    await runInNode(node, [`ip route add ${other.podCidr} via ${other.address}`])
  }
}

/** Removes the device of this machine, and with it the routes. */
export async function disconnectHost(): Promise<void> {
  await ip(`link delete ${hostDevice}`).catch(() => {})
}
