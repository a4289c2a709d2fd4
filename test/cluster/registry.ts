import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Cluster, hostAddress } from '@orderflow/cluster'
import { newSecret } from '@orderflow/stack/base'
import { freePort } from '@orderflow/stack/internals'
import { startRegistry, writeCertificate } from '@orderflow/stack/rehearsal'

export interface ClusterRegistry {
  /** Its address and port, for this machine and for nodes. */
  name: string
  /** The registry's password as Docker's configuration. A Secret with this JSON lets nodes pull images. */
  login: string
  /** The folder of a configuration with this password, for DOCKER_CONFIG. */
  loginFolder: string
  stop: () => Promise<void>
}

/** Docker reads the certificate authorities of a registry from a folder here. */
const dockerCertificates = '/etc/docker/certs.d'

/** Starts a registry with a password at the address of this machine that the nodes reach. The nodes and Docker accept its certificate. */
export async function openRegistry(cluster: Cluster, onProgress: (line: string) => void): Promise<ClusterRegistry> {
  const folder = mkdtempSync(join(tmpdir(), 'orderflow-registry-'))
  const [port, token] = [await freePort(), newSecret()]
  const certificate = await writeCertificate(folder, [hostAddress])
  const { name, close } = await startRegistry({ folder, host: hostAddress, port, token, certificate, onProgress })
  const trusted = join(dockerCertificates, name)
  const created = existsSync(dockerCertificates) ? trusted : dockerCertificates
  mkdirSync(trusted, { recursive: true })
  writeFileSync(join(trusted, 'ca.crt'), certificate.certificate)
  cluster.trustRegistry(name, certificate.certificateFile)
  const auth = Buffer.from(`_:${token}`).toString('base64')
  const login = { auths: { [name]: { auth } } }
  // Docker finds Compose in this folder.
  const own = { ...login, cliPluginsExtraDirs: [join(homedir(), '.docker/cli-plugins')] }
  writeFileSync(join(folder, 'config.json'), JSON.stringify(own), { mode: 0o600 })
  return {
    name,
    login: JSON.stringify(login),
    loginFolder: folder,
    async stop() {
      await close()
      for (const each of [created, folder]) rmSync(each, { recursive: true })
    },
  }
}
