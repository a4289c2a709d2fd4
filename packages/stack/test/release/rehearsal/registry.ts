import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, openSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { hash } from 'bcryptjs'
import { eventually } from '../../../src/base/run-tool.ts'
import type { CertificateFiles } from './certificate-files.ts'
import type { FindImage } from './platform/index.ts'
import { registryProgram } from './registry-program.ts'

export interface RegistryOptions {
  folder: string
  /** The address of this machine at which the registry listens. */
  host?: string
  port: number
  /** The password of user `_`. The platform's command-line tool uses it with an empty user name. */
  token: string
  certificate: CertificateFiles
  onProgress: (line: string) => void
}

export interface RunningRegistry {
  name: string
  findImage: FindImage
  close: () => Promise<void>
}

/** Starts docker-registry (Debian's package of the CNCF's registry) with TLS and a password. */
export async function startRegistry(options: RegistryOptions): Promise<RunningRegistry> {
  const { folder, host = 'localhost', port, token, certificate } = options
  const name = `${host}:${port}`
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const passwords = join(folder, 'htpasswd')
  const password = await hash(token, 4)
  writeFileSync(passwords, `_:${password}\n:${password}\n`, { mode: 0o600 })
  const config = {
    version: 0.1,
    log: { level: 'warn' },
    storage: { filesystem: { rootdirectory: join(folder, 'data') }, delete: { enabled: true } },
    http: { addr: name, tls: { certificate: certificate.certificateFile, key: certificate.keyFile } },
    auth: { htpasswd: { realm: 'rehearsal', path: passwords } },
  }
  const configFile = join(folder, 'config.yml')
  // JSON is valid YAML.
  writeFileSync(configFile, JSON.stringify(config), { mode: 0o600 })
  const log = openSync(join(folder, 'registry.log'), 'w', 0o600)
  const program = await registryProgram(options.onProgress)
  const registry = spawn('bash', ['-c', untilInputEnds, 'bash', program, 'serve', configFile], {
    stdio: ['pipe', log, log],
  })
  const get = (path: string) => getJson(`https://${name}/v2/${path}`, token, certificate.certificate)
  const answer = async () => {
    if (registry.exitCode !== null) throw new Error(`docker-registry ended; see ${folder}/registry.log`)
    return await get('').catch(() => false)
  }
  await eventually(answer, `an answer of docker-registry, whose log is ${folder}/registry.log`)
  return {
    name,
    findImage: async (app, digest) => {
      const found = await get(`${app}/web/manifests/latest`).catch(() => undefined)
      const { mediaType, config: imageConfig } = (found?.body ?? {}) as {
        mediaType?: string
        config?: { digest: string }
      }
      if (mediaType !== dockerManifest || imageConfig?.digest !== digest) return undefined
      return { digest, reference: `${name}/${app}/web@${found?.headers['docker-content-digest']}` }
    },
    close: async () => {
      // After Ctrl-C, the registry has already ended, with a signal instead of an exit code.
      if (registry.exitCode !== null || registry.signalCode !== null) return
      registry.stdin?.end()
      await once(registry, 'exit')
    },
  }
}

/** A shell script that runs a program until standard input ends. This input is a pipe from the parent, so it also ends with the parent. */
const untilInputEnds = '"$@" & read -r; kill "$!"; wait'

const dockerManifest = 'application/vnd.docker.distribution.manifest.v2+json'

/** Returns the headers and the JSON at a URL. This function replaces `fetch`, which has no option for a trusted certificate. */
async function getJson(url: string, token: string, ca: string) {
  const outgoing = request(url, {
    ca,
    headers: { accept: dockerManifest, authorization: `Basic ${Buffer.from(`_:${token}`).toString('base64')}` },
  }).end()
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  const text = Buffer.concat(await answer.toArray()).toString()
  if (answer.statusCode !== 200) throw new Error(`${url} answers ${answer.statusCode}`)
  return { headers: answer.headers, body: JSON.parse(text) as unknown }
}
