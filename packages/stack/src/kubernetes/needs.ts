import { createInterface } from 'node:readline/promises'
import { applicationName, versions } from '../application/paths.ts'
import { givenSettings } from '../application/variables.ts'
import { CliError } from '../base/error.ts'
import { type Cluster, kubectl, readContext, readRecord } from './cluster.ts'
import { type Values, valuesFile } from './values.ts'

const orSet = (install: string, instead: string) => `${install}, or set ${instead} in ${valuesFile}`

const daprStep = `install Dapr: dapr init --kubernetes --wait --runtime-version ${versions.dapr}; or set sidecar: native in ${valuesFile}`
const kedaStep = orSet('install KEDA (https://keda.sh/docs/latest/deploy/)', 'scaling.enabled: false')
const strimziStep = orSet('install Strimzi (https://strimzi.io/quickstarts/)', 'strimzi.enabled: false')
const gatewayStep = orSet('install a gateway (https://gateway-api.sigs.k8s.io/guides/)', 'route.enabled: false')
const prometheusStep = orSet(
  'install the Prometheus Operator (https://prometheus-operator.dev/docs/getting-started/installation/)',
  'monitoring.enabled: false',
)

/** The groups of the API that products add to the cluster, and the next step without the product. */
const needs: readonly [isNeeded: (values: Values) => boolean, group: string, product: string, nextStep: string][] = [
  [({ sidecar }) => sidecar === 'injected', 'dapr.io', 'Dapr', daprStep],
  [({ scaling }) => scaling.enabled, 'keda.sh', 'KEDA', kedaStep],
  [({ strimzi }) => strimzi.enabled, 'kafka.strimzi.io', 'Strimzi', strimziStep],
  [({ route }) => route.enabled, 'gateway.networking.k8s.io', 'the Gateway API', gatewayStep],
  [({ monitoring }) => monitoring.enabled, 'monitoring.coreos.com', 'the Prometheus Operator', prometheusStep],
]

/** @throws {CliError} `usage` unless the values name Kafka */
export function requireKafka({ kafka }: Values): void {
  if (kafka.brokers) return
  const problem = `${valuesFile} must name your Kafka (kafka.brokers), because the chart installs only services`
  throw new CliError('usage', problem, {
    nextStep: `to try the system, follow docs/first-cluster.md. Otherwise install Kafka with SCRAM-SHA-512 and TLS, such as Strimzi (https://strimzi.io/quickstarts/). Then write to ${valuesFile}:
  kafka: { brokers: "HOST:PORT,HOST:PORT", ca: { name: SECRET } }`,
  })
}

/** @throws {CliError} `usage` if the values keep services stopped. `make up REBUILD=1` sets this value only while it needs it */
export function requireNoRebuild({ rebuild }: Pick<Values, 'rebuild'>): void {
  if (rebuild.length === 0) return
  throw new CliError('usage', `${valuesFile} has rebuild: [${rebuild}], which keeps these services stopped`, {
    nextStep: `remove rebuild from ${valuesFile}, then make up REBUILD=1`,
  })
}

/** @throws {CliError} `tools-missing` with the product that the cluster lacks */
export async function requireProducts(cluster: Cluster, values: Values): Promise<void> {
  const { groups } = JSON.parse(await kubectl(cluster, ['get', '--raw', '/apis'])) as { groups: { name: string }[] }
  for (const [isNeeded, group, product, nextStep] of needs) {
    if (!isNeeded(values) || groups.some(({ name }) => name === group)) continue
    throw new CliError('tools-missing', `the cluster lacks ${product}`, { nextStep })
  }
}

/** A pod with a sidecar, as the chart describes it. */
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'sidecar-check', annotations: { 'dapr.io/enabled': 'true', 'dapr.io/app-id': 'sidecar-check' } },
  spec: {
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: 'service',
        image: 'sidecar-check',
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
  },
}

interface InjectedPod {
  spec: { containers: { name: string }[]; initContainers?: { name: string }[] }
}

/**
 * Asks the API server for the pod that it would create. Pods start even if the injector adds no sidecar.
 * @throws {CliError} `tools-missing` without a sidecar, `denied` if the namespace refuses it
 */
export async function requireInjector(cluster: Cluster): Promise<void> {
  const args = ['create', '--dry-run=server', '--output', 'json', '--filename', '-']
  const output = await kubectl(cluster, args, { input: JSON.stringify(pod) }).catch((error: CliError) => {
    throw /violates PodSecurity/.test(error.message) ? refusedSidecar(cluster, error) : error
  })
  const { containers, initContainers = [] } = (JSON.parse(output) as InjectedPod).spec
  if ([...containers, ...initContainers].some(({ name }) => name === 'daprd')) return
  throw new CliError('tools-missing', 'the injector of Dapr adds no sidecar', { nextStep: daprStep })
}

function refusedSidecar({ context, namespace }: Cluster, cause: CliError): CliError {
  return new CliError('denied', `namespace ${namespace} refuses the sidecars of Dapr’s injector: ${cause.message}`, {
    nextStep: `let Dapr drop all privileges of sidecars (the value dapr_sidecar_injector.sidecarDropALLCapabilities=true of its chart). Or allow them: kubectl --context ${context} label namespace ${namespace} pod-security.kubernetes.io/enforce=baseline --overwrite. Or set sidecar: native in ${valuesFile}`,
    cause,
  })
}

/**
 * Checks that the values contain the settings of a shell, because services in the cluster never read the shell.
 * @throws {CliError} `usage`
 */
export function requireNamedSettings({ settings }: Pick<Values, 'settings'>, env: NodeJS.ProcessEnv): void {
  const given = Object.entries(givenSettings(env)).filter(([name]) => name.includes('__'))
  const names = given.filter(([name, value]) => value !== String(settings[name] ?? '')).map(([name]) => name)
  if (names.length === 0) return
  throw new CliError('usage', `the shell sets ${names.join(', ')}, which STACK=kubernetes does not read`, {
    nextStep: `unset ${names.join(' ')}, and write settings into ${valuesFile}, and secrets into the Secrets of services (docs/kubernetes.md)`,
  })
}

/**
 * Returns the cluster of `make up`: the recorded one, otherwise that of the current context.
 * @throws {CliError} `usage` if `NAMESPACE` differs from the recorded namespace
 */
export async function chooseCluster({ NAMESPACE }: NodeJS.ProcessEnv): Promise<Cluster> {
  const record = readRecord()
  const { context, server } = await readContext(record?.context)
  if (record && NAMESPACE && NAMESPACE !== record.namespace) {
    throw new CliError('usage', `NAMESPACE=${NAMESPACE}, but the stack is in namespace ${record.namespace}`, {
      nextStep: `make down and ./orderflow clean, then make up STACK=kubernetes NAMESPACE=${NAMESPACE}`,
    })
  }
  return { context, server, namespace: record?.namespace ?? (NAMESPACE || applicationName) }
}

/**
 * Asks before the first change of a cluster that is not on this machine.
 * @throws {CliError} `usage` without consent
 */
export async function requireConsent(
  { context, server }: Cluster,
  { CONFIRM }: NodeJS.ProcessEnv,
  record = readRecord(),
): Promise<void> {
  const isKnown = record?.context === context && record.server === server
  if (isKnown || isLocal(context, server) || CONFIRM === context) return
  const refusal = new CliError('usage', `${context} (${server}) is not a cluster of this machine`, {
    nextStep: `select another context (kubectl config use-context NAME), or confirm this one: make up STACK=kubernetes CONFIRM=${context}`,
  })
  if (!process.stdin.isTTY || !process.stdout.isTTY) throw refusal
  const prompt = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await prompt.question(`Install into ${context} (${server})? Type the name of the context to confirm: `)
  prompt.close()
  if (answer.trim() !== context) throw refusal
}

const loopback =
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0|kubernetes\.docker\.internal|host\.docker\.internal)$/
const privateAddress = /^(10\.|172\.(1[6-9]|2\d|3[01])\.|192\.168\.|169\.254\.|\[f[cde])/
const localContext = /^(kind-.+|k3d-.+|minikube|docker-desktop)$/

/** Returns true for the clusters of developers' tools: on loopback, or at a private address of a context with such a tool's name. */
export function isLocal(context: string, server: string): boolean {
  const { hostname } = new URL(server)
  return loopback.test(hostname) || (localContext.test(context) && privateAddress.test(hostname))
}
