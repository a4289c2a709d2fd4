import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import { entryOf, services } from '../lib/services.ts'

/** Where a service is reached from this machine. */
export interface ServiceAddress {
  url: string
  httpsUrl: string
}

/** Where a stack is reached from this machine, however it was started. */
export interface Addresses {
  /** By service. */
  services: Record<string, ServiceAddress>
  kafka: KafkaConnection
}

/** Where a service takes requests, without a trailing slash. */
export function urlOf({ services }: Pick<Addresses, 'services'>, service: string): string {
  return entryOf(services, service).url
}

/** Where people see what happens: the page of the service that watches the others. */
export function watchUrl(addresses: Pick<Addresses, 'services'>): string {
  const { name = '' } = services.find(({ watches }) => watches) ?? {}
  return urlOf(addresses, name)
}

/** The addresses of ports of this machine. */
export function addressAt(host: string, { http, https }: { http: number; https: number }): ServiceAddress {
  return { url: `http://${host}:${http}`, httpsUrl: `https://${host}:${https}` }
}
