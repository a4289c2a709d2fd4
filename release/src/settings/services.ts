import { join } from 'node:path'
import { repository } from '@orderflow/stack'
import { readSettings as readOrderSettings } from '../../../order-service/src/settings.ts'
import { readSettings as readPaymentSettings } from '../../../payment-service/src/settings.ts'

/** What `make` targets call the services: release-order, release-payment. */
export const serviceNames = ['order', 'payment'] as const
export type ServiceName = (typeof serviceNames)[number]

export interface Service {
  name: ServiceName
  /** Its folder in the repository, its App.Name and its Dapr app-id. */
  folder: string
  /** The service's own validation of its settings. */
  readSettings: (env: NodeJS.ProcessEnv) => unknown
}

export const services: Record<ServiceName, Service> = {
  order: { name: 'order', folder: 'order-service', readSettings: readOrderSettings },
  payment: { name: 'payment', folder: 'payment-service', readSettings: readPaymentSettings },
}

export function appSettingsFile(service: Service): string {
  return join(repository, service.folder, 'appsettings.json')
}
