import { spawn } from 'node:child_process'
import { closeSync, globSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, runTool } from '@orderflow/stack/base'
import { programFile } from '../programs/programs.ts'

// A node is a set of namespaces with its own network, mounts and host name. All nodes share the process namespace of the first node, so the end of
// this node's first process ends everything. The machine's own network settings and mounts stay unchanged.

export interface Node {
  name: string
  /** The first process of the node, as a pid of this machine. */
  pid: number
  address: string
  podCidr: string
  /** The folder of the node's files. */
  folder: string
  /** The folder of the logs, which stay after a run. */
  logs: string
}

/** Folders of this machine on which a node mounts folders of its own. */
const mountPoints = ['/var/lib/kubelet', '/var/lib/cni', '/var/log/containers']
const podLogsPoint = '/var/log/pods'
/** The folder of volumes, which all nodes share as they would share a network disk. */
const volumesPoint = '/tmp/hostpath_pv'
export const allMountPoints = [...mountPoints, podLogsPoint, volumesPoint]

/** Settings of the kernel that the kubelet writes for the whole machine, with the values that it expects. The node gets files in their place. */
const kernelSettings = {
  'vm/overcommit_memory': 1,
  'vm/panic_on_oom': 0,
  'kernel/panic': 10,
  'kernel/panic_on_oops': 1,
  'kernel/keys/root_maxkeys': 1_000_000,
  'kernel/keys/root_maxbytes': 25_000_000,
}

/** The folders of Debian's programs. Programs of this machine with the same names would not fit each other. */
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin'

/** Starts the namespaces of a node. Returns the pid of its first process. */
export async function startNamespaces(log: string, first?: number): Promise<number> {
  const own = ['--net', '--mount', '--uts', '--ipc', '--mount-proc', '--propagation', 'private']
  const pause = programFile('pause')
  const command = first
    ? ['nsenter', '--target', String(first), '--pid', '--', 'unshare', ...own, pause]
    : ['unshare', ...own, '--pid', '--fork', pause]
  return await spawnDetached(command, log, 'pause')
}

/** Starts a command in the background. Returns the pid of the program `name`, which is a child of the command. */
async function spawnDetached([command = '', ...args]: string[], log: string, name: string): Promise<number> {
  const output = openSync(log, 'a')
  const options = { cwd: '/', detached: true, env: { PATH, HOME: '/root' }, stdio: ['ignore', output, output] as const }
  const child = spawn(command, args, { ...options, stdio: [...options.stdio] })
  closeSync(output)
  child.unref()
  const pid = () => {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}: ${tail(log)}`)
    const [found] = read(`/proc/${child.pid}/task/${child.pid}/children`).trim().split(' ')
    return found && read(`/proc/${found}/comm`).trim() === name.slice(0, 15) ? Number(found) : undefined
  }
  const found = await eventually(pid, name, 10_000)
  // The command would stop together with a stopped program, and then not notice its end. Without the command, the first process of the namespace takes
  // over the program.
  child.kill('SIGKILL')
  return found
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Returns the first process of a container: its cgroup has the container's id, and its number in the container is 1. */
export function firstProcess(containerId: string): number | undefined {
  const found = globSync('/proc/[0-9]*').find(
    (process) => read(`${process}/cgroup`).includes(containerId) && /^NSpid:.*\t1$/m.test(read(`${process}/status`)),
  )
  return found ? Number(found.slice('/proc/'.length)) : undefined
}

export const tail = (file: string, lines = 20): string => read(file).trimEnd().split('\n').slice(-lines).join('\n')

const enter = ({ pid }: Pick<Node, 'pid'>) => {
  const namespaces = ['--net', '--mount', '--pid', '--uts', '--ipc']
  return ['nsenter', '--target', String(pid), ...namespaces, '--']
}

/** Runs a command in a node, and returns its output. */
export function inNode(node: Pick<Node, 'pid'>, ...command: string[]): Promise<string> {
  const [nsenter = '', ...args] = [...enter(node), ...command]
  return runTool(nsenter, args, { cwd: '/', env: { PATH } })
}

/** Runs the lines of a shell script in a node, until a line fails. */
export async function runInNode(node: Pick<Node, 'pid'>, lines: readonly string[]): Promise<void> {
  await inNode(node, 'sh', '-ec', lines.join('\n'))
}

/** Starts a program of a node in the background. Returns its pid on this machine. */
export function startInNode(node: Node, name: string, command: string[]): Promise<number> {
  return spawnDetached([...enter(node), ...command], join(node.logs, `${node.name}-${name}.log`), name)
}

/** Mounts the node's folders, and sets the kernel settings of its network. */
export async function prepareNode(node: Node, volumes: string): Promise<void> {
  const folderOf = (point: string) => join(node.folder, point.replaceAll('/', '-').slice(1))
  const podLogs = join(node.logs, `${node.name}-pods`)
  for (const folder of [volumes, podLogs, ...mountPoints.map(folderOf)]) mkdirSync(folder, { recursive: true })
  const settings = join(node.folder, 'sysctl')
  mkdirSync(settings)
  const replaced = Object.entries(kernelSettings).map(([name, value]) => {
    const file = join(settings, name.replaceAll('/', '-'))
    writeFileSync(file, `${value}\n`)
    return `mount --bind ${file} /proc/sys/${name}`
  })
  const lines = [
    `hostname ${node.name}`,
    'mount -t tmpfs tmpfs /run',
    'mkdir /run/netns /run/lock',
    ...mountPoints.map((point) => `mount --bind ${folderOf(point)} ${point}`),
    `mount --bind ${podLogs} ${podLogsPoint}`,
    `mount --bind ${volumes} ${volumesPoint}`,
    ...replaced,
    // The kubelet mounts volumes into containers, so mounts must propagate.
    'mount --make-rshared /',
    'ip link set lo up',
    'cd /proc/sys/net',
    'echo 1 >ipv4/ip_forward',
    'echo 1 >bridge/bridge-nf-call-iptables',
    'echo 0 >ipv4/conf/all/rp_filter',
    'echo 0 >ipv4/conf/default/rp_filter',
  ]
  await runInNode(node, lines)
}
