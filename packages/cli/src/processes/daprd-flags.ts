import type { ServicePorts } from '../lib/ports.ts'
import type { Service } from '../lib/services.ts'

/** Where a sidecar finds its resources. daprd does not look into the folders of a folder. */
interface Resources {
  folders: string[]
  configuration: string
}

/**
 * The files of a `components` folder, and beside those that all share the state store of one kind (docs/stores.md), for a service that has
 * a store.
 */
export function resourcesOf(
  components: string,
  { hasStore }: Pick<Service, 'hasStore'>,
  store: 'sqlite' | 'mongodb' | 'postgresql',
): Resources {
  return {
    folders: [components, ...(hasStore ? [`${components}/${store}`] : [])],
    configuration: `${components}/configuration.yaml`,
  }
}

/**
 * How every sidecar is started: here, in docker-compose.yml and (a test compares) in packages/cli/release-image/start. Without the three listen
 * addresses daprd opens its metrics and internal gRPC ports on every interface.
 * @param addresses `api`: where it takes requests, separated by commas; `metrics`: that of a pod, where whoever scrapes is another one
 */
export function daprdFlags(
  appId: string,
  ports: ServicePorts,
  resources: Resources,
  { api = '127.0.0.1', metrics = '127.0.0.1' } = {},
): [flag: string, value: string][] {
  return [
    ['app-id', appId],
    ['app-port', String(ports.channel)],
    ['app-protocol', 'http'],
    ['dapr-http-port', String(ports.daprHttp)],
    ['dapr-grpc-port', String(ports.daprGrpc)],
    ['dapr-internal-grpc-port', String(ports.daprInternalGrpc)],
    ['metrics-port', String(ports.daprMetrics)],
    ['dapr-listen-addresses', api],
    ['dapr-internal-grpc-listen-address', '127.0.0.1'],
    ['metrics-listen-address', metrics],
    ...resources.folders.map((folder): [string, string] => ['resources-path', folder]),
    ['config', resources.configuration],
    // Bulk publishes and state transactions of a full batch are above the 4Mi default.
    ['max-body-size', '16Mi'],
  ]
}
