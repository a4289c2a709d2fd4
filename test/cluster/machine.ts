import { globSync, readFileSync } from 'node:fs'
import { repository, runTool } from '@orderflow/stack/base'

// Everything of this machine that a cluster could change.

const kernelSettings = [
  'kernel/keys/root_maxbytes',
  'kernel/keys/root_maxkeys',
  'kernel/panic',
  'kernel/panic_on_oops',
  'net/bridge/bridge-nf-call-iptables',
  'net/ipv4/conf/all/rp_filter',
  'net/ipv4/ip_forward',
  'net/netfilter/nf_conntrack_max',
  'net/netfilter/nf_conntrack_tcp_timeout_established',
  'vm/overcommit_memory',
  'vm/panic_on_oom',
]

const folders = [
  '/etc/cni/*',
  '/opt/cni',
  '/root/.kube',
  '/root/.cache/helm',
  '/run/containerd',
  '/run/netns/*',
  '/tmp/hostpath_pv',
  '/usr/libexec/kubernetes',
  '/var/lib/cni',
  '/var/lib/etcd',
  '/var/lib/kubelet',
  '/var/log/containers',
  '/var/log/pods',
]

/** Matches mounts of a cluster. Other programs of this machine, such as Podman, may mount something at the same time. */
const ofCluster = /kubelet|containerd|\/cni|\/netns|hostpath_pv|\/var\/log\/|\.stack\/cluster|\/proc\/sys\//

export async function inspectMachine(): Promise<Record<string, unknown>> {
  const run = (command: string, ...args: string[]) => runTool(command, args, { cwd: repository })
  const rules = await run('iptables-save')
  return {
    mounts: readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .filter((line) => ofCluster.test(line)),
    cgroups: globSync('/sys/fs/cgroup/{,*/}{kubepods,k8s.io,orderflow-cluster}*'),
    devices: (await run('ip', '-oneline', 'link')).split('\n').map((line) => line.split(' ')[1]),
    routes: await run('ip', 'route'),
    // Without the numbers of packets and bytes, which other programs of the machine change.
    'rules of iptables': rules
      .split('\n')
      .filter((line) => /^[-:*]/.test(line))
      .map((line) => line.replace(/ \[\d+:\d+\]$/, '')),
    'kernel settings': kernelSettings.map((name) => `${name}=${readIfThere(`/proc/sys/${name}`)}`),
    folders: globSync(folders),
  }
}

/** Returns the pids of a cluster's programs, which have files in its folder, and of its containers. */
export function processesOf(folder: string): string[] {
  return globSync('/proc/[0-9]*').filter((process) => {
    const isProgram = readIfThere(`${process}/cmdline`)?.includes(`=${folder}/`)
    return isProgram || readIfThere(`${process}/cgroup`)?.includes(':/orderflow-cluster/')
  })
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return undefined
  }
}
