import { networkInterfaces } from 'node:os'
import { CliError } from './error.ts'
import { ofServices } from './services.ts'

/** Loopback ports of one service and its sidecar. */
export interface ServicePorts {
  http: number
  https: number
  /** The port at which the sidecar calls the service. */
  channel: number
  /** The port of its metrics. */
  metrics: number
  daprHttp: number
  daprGrpc: number
  daprInternalGrpc: number
  daprMetrics: number
}

export interface StackPorts {
  kafka: number
  kafkaController: number
  postgresql: number
  /** Those of `make observe`: where traces are sent, and where they are looked at. */
  otlp: number
  jaeger: number
  prometheus: number
  exporter: number
  /** By service. */
  services: Record<string, ServicePorts>
}

/**
 * The ports of the sidecar of the service at this index of services.json, from 0 on, and of what only operators ask.
 */
export function innerPorts(index: number): Omit<ServicePorts, 'http' | 'https' | 'channel'> {
  return {
    daprHttp: 3500 + index,
    daprGrpc: 3600 + index,
    daprInternalGrpc: 3700 + index,
    daprMetrics: 3800 + index,
    metrics: 3900 + index,
  }
}

/**
 * The usual ports: those of services.json, of each service's appsettings.json and of the documentation. A sidecar's follow
 * from its service's index in services.json. They are below every system's range for outgoing connections, one of which could sit
 * on Dapr's usual gRPC ports (50001 and on) for a while; 9090 and on, Dapr's usual for metrics, are Prometheus' and Kafka's. 5432 is for the
 * PostgreSQL server that Debian's package starts by itself. Jaeger's usual 16686 would be above them all, and leave less room for an offset.
 */
export const defaultPorts: StackPorts = {
  kafka: 9092,
  kafkaController: 9093,
  postgresql: 5433,
  otlp: 4318,
  jaeger: 6686,
  prometheus: 9090,
  exporter: 9091,
  services: ofServices(({ http, https, channel }, index) => ({ http, https, channel, ...innerPorts(index) })),
}

/** From the highest of the usual ports to the highest there is. */
const largestOffset = 50_000

/**
 * The ports of `make up` as processes: the usual ones, or all of them `PORT_OFFSET` higher, where other programs or another checkout's
 * stack have those.
 * @throws {CliError} `usage` for what is no such number
 */
export function localPorts({ PORT_OFFSET = '' }: NodeJS.ProcessEnv = process.env): StackPorts {
  const offset = Number(PORT_OFFSET)
  if (!Number.isInteger(offset) || offset < 0 || offset > largestOffset) {
    throw new CliError('usage', `PORT_OFFSET=${PORT_OFFSET} cannot be added to a port`, {
      nextStep: `PORT_OFFSET is 0 to ${largestOffset}, such as 10000, and the same for each command`,
    })
  }
  return moved(defaultPorts, offset)
}

/** Ports in a record, or in the records of one. */
function moved<Ports extends object>(ports: Ports, offset: number): Ports {
  const pairs = Object.entries(ports).map(([name, port]) => [
    name,
    typeof port === 'number' ? port + offset : moved(port, offset),
  ])
  return Object.fromEntries(pairs) as Ports
}

/**
 * Returns the loopback addresses of this machine. A program may try either first for `localhost`; there is no ::1 where
 * IPv6 is off.
 */
export function loopbacks(): string[] {
  const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address))
  return ['127.0.0.1', ...(own.includes('::1') ? ['::1'] : [])]
}

/** An address as it stands before a port. */
export const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address)
