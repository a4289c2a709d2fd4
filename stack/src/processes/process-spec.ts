import { join } from 'node:path'
import { kafkaCommand } from '../kafka/broker.ts'
import { cacheFolder, daprdFile, repository } from '../lib/paths.ts'
import { javaCommand } from './java.ts'
import { dataFolder, type Plan, type ProcessName } from './plan.ts'
import type { ServicePorts } from './ports.ts'
import type { ServiceTokens } from './secrets.ts'
import { componentSettings } from './settings.ts'

export interface ProcessSpec<Name extends string = string> {
  name: Name
  command: string
  args: string[]
  /** Laid over the environment of the one that starts it. */
  env: Record<string, string>
  /** What it listens on, by use. */
  ports: Record<string, number>
}

/** How each process of the stack is started. */
export function processSpecs(plan: Plan): Record<ProcessName, ProcessSpec<ProcessName>> {
  const { kafka, kafkaController } = plan.ports
  return {
    kafka: {
      name: 'kafka',
      command: javaCommand(),
      args: kafkaCommand(plan),
      env: {},
      ports: { broker: kafka, controller: kafkaController },
    },
    'order-service': serviceSpec(plan, 'order'),
    'order-sidecar': sidecarSpec(plan, 'order'),
    'payment-service': serviceSpec(plan, 'payment'),
    'payment-sidecar': sidecarSpec(plan, 'payment'),
  }
}

/**
 * In MiB. Without the first a service keeps 300 MB of dead young objects on a large machine (make bench PART=latency). Without the
 * second it collects its old ones several times a second, since the buffers of each batch count as their growth. The third leaves room
 * for three of the largest bulk deliveries (service-kit/src/stream/app-channel.ts).
 */
const heapLimits = ['--max-semi-space-size=16', '--initial-heap-size=128', '--max-old-space-size=1024']

function serviceSpec(plan: Plan, role: 'order' | 'payment'): ProcessSpec<ProcessName> {
  const { http, https, channel, daprHttp, daprGrpc } = plan.ports[role]
  return {
    name: `${role}-service`,
    command: process.execPath,
    args: [...heapLimits, join(repository, `${role}-service/src/main.ts`)],
    env: {
      // glibc gives every thread an arena of its own: 15 MB a service for nothing.
      MALLOC_ARENA_MAX: '2',
      // Stripping the types takes a third of a start's time and 20 MB: once per version of the sources is enough.
      NODE_COMPILE_CACHE: join(cacheFolder(), 'compile-cache'),
      ...tokenVariables(plan.tokens[role]),
      ...streamVariables(plan, role),
      Web__HttpPort: String(http),
      Web__HttpsPort: String(https),
      Web__CertificateFile: plan.certificate.certificate,
      Web__KeyFile: plan.certificate.key,
      AppChannel__Port: String(channel),
      Sidecar__HttpPort: String(daprHttp),
      Sidecar__GrpcPort: String(daprGrpc),
    },
    ports: { http, https, channel },
  }
}

function sidecarSpec(plan: Plan, role: 'order' | 'payment'): ProcessSpec<ProcessName> {
  const ports = plan.ports[role]
  return {
    name: `${role}-sidecar`,
    command: daprdFile(),
    args: daprdArguments(`${role}-service`, ports),
    env: {
      ...componentSettings(join(repository, `${role}-service`), process.env),
      ...tokenVariables(plan.tokens[role]),
      ...streamVariables(plan, role),
      State__ConnectionString: join(dataFolder(plan.folder), `${role}.db`),
    },
    ports: {
      http: ports.daprHttp,
      grpc: ports.daprGrpc,
      'internal grpc': ports.daprInternalGrpc,
      metrics: ports.metrics,
    },
  }
}

/** How to reach Kafka, which a service asks whether it is ready; with a password, the user's. What is for the store is its sidecar's alone. */
function streamVariables(plan: Plan, role: 'order' | 'payment'): Record<string, string> {
  const settings = componentSettings(join(repository, `${role}-service`), process.env)
  const stream = Object.entries(settings).filter(([name]) => name.startsWith('Stream__'))
  return { ...Object.fromEntries(stream), Stream__Brokers: `127.0.0.1:${plan.ports.kafka}` }
}

function tokenVariables({ app, dapr }: ServiceTokens): Record<string, string> {
  return { APP_API_TOKEN: app, DAPR_API_TOKEN: dapr }
}

/** Without the three listen addresses daprd opens its metrics and internal gRPC ports on every interface. */
export function daprdArguments(appId: string, ports: ServicePorts): string[] {
  const flags: Record<string, string> = {
    'app-id': appId,
    'app-port': String(ports.channel),
    'app-protocol': 'http',
    'dapr-http-port': String(ports.daprHttp),
    'dapr-grpc-port': String(ports.daprGrpc),
    'dapr-internal-grpc-port': String(ports.daprInternalGrpc),
    'metrics-port': String(ports.metrics),
    'dapr-listen-addresses': '127.0.0.1',
    'dapr-internal-grpc-listen-address': '127.0.0.1',
    'metrics-listen-address': '127.0.0.1',
    'resources-path': join(repository, 'components/local'),
    config: join(repository, 'components/configuration.yaml'),
    // Bulk publishes and state transactions of a full batch are above the 4Mi default.
    'max-body-size': '16Mi',
  }
  return Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value])
}
