import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { applicationName, repository } from '../application/paths.ts'
import { entryOf, isKnownBySignature, type Service, services } from '../application/services.ts'
import { newSecret } from '../base/credentials.ts'
import { CliError } from '../base/error.ts'
import { connectionStrings, kafkaPasswords } from '../containers/project.ts'
import { exporterUser, operatorUser, publishUser } from '../kafka/rights.ts'
import type { ApiKeysText } from '../runner.ts'
import { tablesUser } from '../stores/databases.ts'
import { tlsSettings } from '../stores/libpq.ts'
import { withLogin } from '../stores/uri.ts'
import { type Cluster, kubectlJson, ownLabel, sendObjects } from './cluster.ts'
import type { Values } from './values.ts'

export interface Secret {
  apiVersion: 'v1'
  kind: 'Secret'
  metadata: { name: string; labels?: Record<string, string> }
  /** Values as base64. */
  data?: Record<string, string>
}

export const operatorSecret = 'operator-secrets'
const secretOf = ({ name }: Pick<Service, 'name'>) => `${name}-secrets`

/** Returns the name of the Secret with the API keys that `make up` creates, unless the values name another Secret. */
const apiKeysSecret = `${applicationName}-api-keys`
const apiKeysEntry = 'api-keys.json'

export async function readSecrets(cluster: Cluster): Promise<Secret[]> {
  return (await kubectlJson<{ items: Secret[] }>(cluster, ['get', 'secrets'])).items
}

/**
 * Creates missing Secrets and missing keys. Existing values stay, because they may come from another source, such as External Secrets.
 * @param given the variables of the environment and of `.env`
 * @returns the names of the Secrets that it has created or completed
 * @throws {CliError} `settings` with the names of variables that must be given once, or for an invalid URI
 */
export async function ensureSecrets(
  cluster: Cluster,
  values: Values,
  given: NodeJS.ProcessEnv = givenVariables(),
): Promise<string[]> {
  const found = new Map((await readSecrets(cluster)).map((secret) => [secret.metadata.name, secret]))
  const contents = wantedSecrets(values, found, given)
  if (values.store === 'postgresql') requireModes(contents)
  const changes = [...contents].flatMap(([name, wanted]) => {
    const existing = found.get(name)
    const missing = Object.entries(wanted).filter(([key]) => existing?.data?.[key] === undefined)
    const data = Object.fromEntries(missing.map(([key, value]) => [key, Buffer.from(value).toString('base64')]))
    if (existing) return missing.length > 0 ? [{ ...existing, data: { ...existing.data, ...data } }] : []
    return [{ apiVersion: 'v1', kind: 'Secret', metadata: { name, labels: ownLabel }, data } as const]
  })
  const isThere = ({ metadata }: Secret) => found.has(metadata.name)
  await sendObjects(
    cluster,
    'create',
    changes.filter((secret) => !isThere(secret)),
  )
  // An existing Secret has its version, so Kubernetes refuses this if another program has changed it in the meantime.
  await sendObjects(cluster, 'replace', changes.filter(isThere))
  return changes.map(({ metadata }) => metadata.name)
}

/** The key of a Secret with the URI of the store. */
const uriKey = 'State__ConnectionString'

const decoded = (encoded: string | undefined) =>
  encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString()

/** Returns the URI with which the setup job creates the users of services. */
const operatorUri = (found: ReadonlyMap<string, Secret>, given: NodeJS.ProcessEnv) =>
  decoded(found.get(operatorSecret)?.data?.[uriKey]) ?? given[uriKey]

/** Refuses URIs before Secrets keep them. @throws {CliError} `settings` for a mode of TLS that sidecars refuse */
function requireModes(contents: Contents): void {
  for (const { [uriKey]: uri } of contents.values()) if (uri) tlsSettings(uri, {})
}

type Contents = Map<string, Record<string, string>>

function wantedSecrets(values: Values, found: ReadonlyMap<string, Secret>, given: NodeJS.ProcessEnv): Contents {
  const missing = new Set<string>()
  const presentValue = (secret: string, key: string) => decoded(found.get(secret)?.data?.[key])
  /** Returns a value that cannot be generated. */
  const once = (secret: string, key: string, variable = key) => {
    const value = presentValue(secret, key) ?? given[variable]
    if (!value) missing.add(variable)
    return { [key]: value ?? '' }
  }
  const { kafka, setup, strimzi, store } = values
  const administrator = operatorUri(found, given)
  /** Returns the URI of a service's sidecar. If the setup job can create its user, the password is new. */
  const storeUri = ({ name }: Service) => {
    const own = entryOf(connectionStrings, name)
    if (!setup.enabled || given[own]) return once(secretOf({ name }), uriKey, own)
    if (!administrator) return once(secretOf({ name }), uriKey)
    const user = store === 'postgresql' ? tablesUser(name) : name
    return { [uriKey]: withLogin(administrator, user, newSecret()) }
  }
  const isSigned = services.filter(isKnownBySignature)
  const keys =
    isSigned.map((service) => presentValue(secretOf(service), 'Trust__SigningKeys')).find(Boolean) ?? newSecret()

  const contents: Contents = new Map()
  for (const service of services) {
    const name = secretOf(service)
    contents.set(name, {
      APP_API_TOKEN: newSecret(),
      DAPR_API_TOKEN: newSecret(),
      // Without the setup job, other people have created the users of Kafka with their passwords.
      ...(setup.enabled
        ? { Stream__SaslPassword: newSecret() }
        : strimzi.enabled
          ? {}
          : once(name, 'Stream__SaslPassword', entryOf(kafkaPasswords, service.name))),
      ...(service.hasStore && { DryRun__Token: newSecret(), ...storeUri(service) }),
      ...(isSigned.includes(service) && { Trust__SigningKeys: keys }),
    })
  }
  if (kafka.ca.name) contents.set(kafka.ca.name, once(kafka.ca.name, kafka.ca.key, 'Stream__CaCert'))
  const user = presentValue(operatorSecret, 'Stream__SaslUsername') ?? given.Stream__SaslUsername
  // The setup job needs this user, and so do commands that use Kafka.
  if (setup.enabled || user) {
    const login = { ...once(operatorSecret, 'Stream__SaslUsername'), ...once(operatorSecret, 'Stream__SaslPassword') }
    contents.set(operatorSecret, {
      ...login,
      // The setup job sets this password, so it must be the known one if the user is the operator.
      [entryOf(kafkaPasswords, operatorUser)]: user === operatorUser ? (login.Stream__SaslPassword ?? '') : newSecret(),
      [entryOf(kafkaPasswords, publishUser)]: newSecret(),
      [entryOf(kafkaPasswords, exporterUser)]: newSecret(),
      ...(setup.enabled && (store === 'postgresql' || administrator) && once(operatorSecret, uriKey)),
    })
  }
  if (missing.size > 0) throw notGiven([...missing], values)
  return contents
}

const meanings: Record<string, string> = {
  Stream__CaCert: 'the certificate of Kafka’s authority, as PEM',
  Stream__SaslUsername: 'a user of Kafka who may create users and topics',
  Stream__SaslPassword: 'the password of this user',
  State__ConnectionString:
    'the URI of the store, as reached from the cluster, with a user who may create users. The sidecars get users of their own',
  ...Object.fromEntries(
    Object.entries(connectionStrings).map(([service, variable]) => [
      variable,
      `the URI of the store for ${service}, with a user who may only use its database. Or set State__ConnectionString`,
    ]),
  ),
}

function notGiven(variables: string[], { setup }: Values): CliError {
  const lines = variables.map((name) => `  ${name}: ${meanings[name] ?? 'the password of a user of Kafka'}`)
  const how = 'set them once in .env or in the environment; make up then keeps them in Secrets of the namespace'
  return new CliError('settings', `these secrets are missing:\n${lines.join('\n')}`, {
    nextStep: setup.enabled ? how : `${how}. ./orderflow acls prints the rights of the users`,
  })
}

function givenVariables(): NodeJS.ProcessEnv {
  const file = join(repository, '.env')
  return { ...(existsSync(file) && parseEnv(readFileSync(file, 'utf8'))), ...process.env }
}

/**
 * Returns the API keys in the Secret that services read.
 * @throws {CliError} `usage` on a change of a Secret that another program manages
 */
export function apiKeysIn(cluster: Cluster, values: Values): ApiKeysText {
  const name = values.apiKeys || apiKeysSecret
  const secret = () => kubectlJson<Secret>(cluster, ['get', 'secret', name])
  return {
    name: `Secret ${name}`,
    read: async () => Buffer.from((await secret()).data?.[apiKeysEntry] ?? '', 'base64').toString() || '[]',
    write: async (text) => {
      const before = await secret()
      const isOwn = Object.entries(ownLabel).every(([label, value]) => before.metadata.labels?.[label] === value)
      if (!isOwn) {
        throw new CliError('usage', `another program manages the Secret ${name}`, {
          nextStep: 'change the API keys at the source of this Secret',
        })
      }
      const data = { ...before.data, [apiKeysEntry]: Buffer.from(text).toString('base64') }
      await sendObjects(cluster, 'replace', [{ ...before, data }])
    },
    // The kubelet's interval, and the age of its cached Secrets.
    delay: 'two minutes',
  }
}

/**
 * Makes sure that services with authentication have a Secret with API keys.
 * @param keys the content of the new Secret
 * @returns the name of the Secret. An empty text means that the services need none
 */
export async function ensureApiKeysSecret(cluster: Cluster, values: Values, keys: string): Promise<string> {
  if (values.apiKeys) return values.apiKeys
  if (values.settings.Auth__Mode !== 'closed') return ''
  const isThere = (await readSecrets(cluster)).some(({ metadata }) => metadata.name === apiKeysSecret)
  const data = { [apiKeysEntry]: Buffer.from(keys).toString('base64') }
  const metadata = { name: apiKeysSecret, labels: ownLabel }
  if (!isThere) await sendObjects(cluster, 'create', [{ apiVersion: 'v1', kind: 'Secret', metadata, data }])
  return apiKeysSecret
}
