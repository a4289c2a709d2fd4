import { entryOf } from '@orderflow/stack'
import { readArchives } from '../images/archives.ts'
import { containerdSocket } from './configuration.ts'
import { inNode, type Node } from './node.ts'

type RunningNode = Pick<Node, 'pid'>

/** Runs containerd's client for the containers of Kubernetes. */
export const ctr = (node: RunningNode, ...args: string[]): Promise<string> =>
  inNode(node, 'ctr', '--address', containerdSocket, '--namespace', 'k8s.io', ...args)

/** Loads images from their archives into a node. */
export async function importImages(node: RunningNode, names: Iterable<string>): Promise<void> {
  const archives = readArchives()
  for (const name of names) await ctr(node, 'images', 'import', entryOf(archives, name).file)
}
