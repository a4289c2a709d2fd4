import { existsSync } from 'node:fs'
import { CliError, runTool } from '@orderflow/stack/base'
import { aptGetInstall, canAptGet, type ProvisionOptions } from '@orderflow/stack/internals'

/** The Debian packages of a cluster, and a file of each. Podman builds the images. */
const packages: Readonly<Record<string, string>> = {
  containerd: '/usr/bin/containerd',
  runc: '/usr/sbin/runc',
  'containernetworking-plugins': '/usr/lib/cni/bridge',
  iptables: '/usr/sbin/iptables',
  conntrack: '/usr/sbin/conntrack',
  nftables: '/usr/sbin/nft',
  socat: '/usr/bin/socat',
  iproute2: '/usr/sbin/ip',
  podman: '/usr/bin/podman',
}

const missingPackages = () => Object.keys(packages).filter((name) => !existsSync(packages[name] ?? ''))

/** Returns the reason why this machine cannot run a cluster. Missing Debian packages are no reason if apt can install them. */
export async function clusterMissing(): Promise<string | undefined> {
  if (process.platform !== 'linux') return `a cluster needs Linux, and this machine has ${process.platform}`
  if (process.getuid?.() !== 0) return 'a cluster needs root, for namespaces and cgroups'
  const missing = missingPackages()
  if (missing.length > 0 && !canAptGet()) return `apt-get is missing, which installs ${missing.join(', ')}`
  try {
    await runTool('unshare', ['--net', '--mount', '--pid', '--fork', 'true'], { cwd: '/' })
    return undefined
  } catch (error) {
    return `this machine allows no new namespaces: ${(error as Error).message.trim().split('\n').at(-1)}`
  }
}

/**
 * Installs missing Debian packages.
 * @throws {CliError} `tools-missing` if this machine cannot run a cluster
 */
export async function ensureRequirements({ onProgress, signal }: ProvisionOptions): Promise<void> {
  const reason = await clusterMissing()
  if (reason) {
    throw new CliError('tools-missing', reason, {
      nextStep: 'run this as root on Debian or Ubuntu, in a machine that allows namespaces',
    })
  }
  const missing = missingPackages()
  if (missing.length === 0) return
  onProgress(`installing with apt-get: ${missing.join(', ')}`)
  await aptGetInstall(missing, signal)
}
