import { exporterUser, operatorUser, publishUser } from '../kafka/rights.ts'
import { type Service, services } from '../lib/services.ts'

/** What `.env` and docker-compose.yml call something of a service: `ORDER_HTTP_PORT`, `ORDER_APP_TOKEN`. */
export function variableOf({ role }: Pick<Service, 'role'>, what: ServiceVariable): string {
  return `${role.toUpperCase().replaceAll('-', '_')}_${what}`
}

type ServiceVariable = 'HTTP_PORT' | 'HTTPS_PORT' | 'APP_TOKEN' | 'DAPR_TOKEN' | 'DRY_RUN_TOKEN' | 'KAFKA_PASSWORD'

/** Those of the passwords that a stack's users of Kafka have, by user. */
export const kafkaPasswords: Readonly<Record<string, string>> = {
  [operatorUser]: 'KAFKA_OPERATOR_PASSWORD',
  [publishUser]: 'KAFKA_PUBLISHER_PASSWORD',
  [exporterUser]: 'KAFKA_EXPORTER_PASSWORD',
  ...Object.fromEntries(services.map((service) => [service.name, variableOf(service, 'KAFKA_PASSWORD')])),
}
