import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KafkaConnection } from '@orderflow/kafka-log'
import { freePorts } from '../../../src/application/free-ports.ts'
import { images } from '../../../src/application/images.ts'
import { ensureImages } from '../../../src/containers/images.ts'
import { ensureEngine } from '../../../src/provision/engine.ts'
import { writeCertificate } from './certificate-files.ts'
import { machineName, openContainers } from './containers.ts'
import { startKafka } from './kafka.ts'
import { startMongo } from './mongo.ts'
import { type PlatformOptions, type RunningPlatform, startPlatform } from './platform/index.ts'
import { startRegistry } from './registry.ts'

export interface Rehearsal {
  platform: RunningPlatform
  /** The variables that an operator sets before a release. */
  env: Record<string, string>
  kafka: KafkaConnection
  /** The address and name by which released services reach this machine, and a certificate that they trust. */
  machine: { address: string; name: string; certificate: string; key: string }
  close: () => Promise<void>
}

export interface RehearsalOptions {
  /** The folder for files. It is emptied first. */
  folder: string
  apps: Record<string, string>
  onProgress: (line: string) => void
  interfere?: PlatformOptions['interfere']
}

/**
 * Starts a platform with its registry, and Kafka and MongoDB like hosted ones. Released images run in containers of the Docker engine.
 * `close` removes everything.
 */
export async function startRehearsal(options: RehearsalOptions): Promise<Rehearsal> {
  const { folder, onProgress } = options
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  await ensureEngine({ onProgress })
  for (const { name, standIn } of await ensureImages({ onProgress }, [images.base, images.kafka, images.mongo])) {
    if (standIn) onProgress(`${name}: ${standIn} replaces it`)
  }
  const [token, password] = [newSecret(), newSecret()]
  const ports = await freePorts()
  const certificate = await writeCertificate(folder, ['kafka', machineName])
  const trusted = trustFile(folder, certificate.certificate)
  const registry = await startRegistry({
    folder: join(folder, 'registry'),
    port: ports.kafkaController,
    token,
    certificate,
    onProgress,
  })
  onProgress(`registry: ${registry.name}, with TLS and a password`)

  const dockerConfig = join(folder, 'docker-pull')
  writeLogin(dockerConfig, registry.name, token)
  const containers = await openContainers(registry.name, dockerConfig, trusted)
  const closers = [containers.close, registry.close]
  const close = async () => {
    for (const end of closers) await end()
  }
  try {
    const user = 'orderflow'
    const [kafka, connectionString] = await Promise.all([
      startKafka({ folder, containers, certificate, user, password, hostPort: ports.kafka }),
      startMongo(containers, user, password),
    ])
    onProgress('kafka and mongodb: with passwords')
    const { findImage } = registry
    const interfere = options.interfere && { interfere: options.interfere }
    const { runtime } = containers
    const platform = await startPlatform({
      apps: options.apps,
      token,
      platform: 'heroku',
      findImage,
      runtime,
      bootTimeoutMs: 60_000,
      ...interfere,
    })
    closers.unshift(platform.close)
    onProgress(`platform: ${platform.apiUrl}`)
    const env = {
      PLATFORM_API_URL: platform.apiUrl,
      PLATFORM_REGISTRY: registry.name,
      ACCESS_TOKEN: token,
      NODE_EXTRA_CA_CERTS: trusted,
      // Keeps the exports of a rehearsal apart from exports of real apps.
      RELEASE_FOLDER: join(folder, 'exports'),
      DOCKER_CONFIG: join(folder, 'docker'),
      Stream__Brokers: 'kafka:9093',
      Stream__SaslMechanism: 'SHA-512',
      Stream__SaslUsername: user,
      Stream__SaslPassword: password,
      Stream__CaCert: certificate.certificate,
      State__ConnectionString: connectionString,
      Trust__SigningKeys: newSecret(),
    }
    const key = readFileSync(certificate.keyFile, 'utf8')
    const machine = { address: containers.gateway, name: machineName, certificate: certificate.certificate, key }
    return { platform, env, kafka, machine, close }
  } catch (error) {
    await close()
    throw error
  }
}

const newSecret = () => randomBytes(24).toString('base64url')

/** Writes a file with the certificate and the certificates of NODE_EXTRA_CA_CERTS. */
function trustFile(folder: string, certificate: string): string {
  const { NODE_EXTRA_CA_CERTS: others } = process.env
  const file = join(folder, 'trusted.pem')
  // Containers read the file as other users.
  writeFileSync(file, `${certificate}\n${others ? readFileSync(others, 'utf8') : ''}`, { mode: 0o644 })
  return file
}

/** Writes the login to a registry, as `docker login` does. */
function writeLogin(folder: string, registry: string, token: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const auths = { [registry]: { auth: Buffer.from(`_:${token}`).toString('base64') } }
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ auths }), { mode: 0o600 })
}
