import { ofServices } from './services.ts'

/** Loopback ports of one service and its sidecar. */
export interface ServicePorts {
  http: number
  https: number
  /** Where the sidecar calls the service. */
  channel: number
  daprHttp: number
  daprGrpc: number
  daprInternalGrpc: number
  metrics: number
}

export interface StackPorts {
  kafka: number
  kafkaController: number
  /** By service. */
  services: Record<string, ServicePorts>
}

/** The ports of the sidecar of the service in this place of services.json, from 0 on. */
export function sidecarPorts(place: number): Omit<ServicePorts, 'http' | 'https' | 'channel'> {
  return { daprHttp: 3500 + place, daprGrpc: 3600 + place, daprInternalGrpc: 3700 + place, metrics: 3800 + place }
}

/**
 * The ports of `make up`: those of services.json, of each service's appsettings.json and of the documentation. A sidecar's follow
 * from its service's place in services.json. They are below every system's range for outgoing connections, one of which could sit
 * on Dapr's usual gRPC ports (50001 and on) for a while; 9090 and on, Dapr's usual for metrics, would meet Kafka's with the third
 * service.
 */
export const defaultPorts: StackPorts = {
  kafka: 9092,
  kafkaController: 9093,
  services: ofServices(({ http, https, channel }, place) => ({ http, https, channel, ...sidecarPorts(place) })),
}
