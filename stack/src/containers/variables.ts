import type { Service } from '../lib/services.ts'

/** What `.env` and docker-compose.yml call something of a service: `ORDER_HTTP_PORT`, `ORDER_APP_TOKEN`. */
export function variableOf({ role }: Pick<Service, 'role'>, what: ServiceVariable): string {
  return `${role.toUpperCase().replaceAll('-', '_')}_${what}`
}

export type ServiceVariable = 'HTTP_PORT' | 'HTTPS_PORT' | 'APP_TOKEN' | 'DAPR_TOKEN'
