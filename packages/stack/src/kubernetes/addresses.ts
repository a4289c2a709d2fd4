import { kafkaPasswords } from '../containers/project.ts'
import { kafkaConnection } from '../kafka/connection.ts'
import { publishUser } from '../kafka/rights.ts'
import { defaultPorts } from '../lib/ports.ts'
import { entryOf, ofServices } from '../lib/services.ts'
import type { Reached } from '../runner.ts'
import { addressesVariable } from './inside.ts'
import type { Values } from './values.ts'

/** Returns the addresses at which people reach the services: the hosts of the route, otherwise those of `kubectl port-forward`. */
export function addressesOf({ route }: Pick<Values, 'route'>): Record<string, string> {
  const hosts = route.enabled ? route.hosts : {}
  return ofServices(({ name, http }) => (hosts[name] ? `https://${hosts[name]}` : `http://localhost:${http}`))
}

const observers = { jaeger: defaultPorts.jaeger, prometheus: defaultPorts.prometheus, grafana: undefined }

/** Returns addresses for messages on this machine. Kafka is reachable only inside the cluster. */
export function reachFromOutside(values: Pick<Values, 'route'>): Reached {
  const nowhere = { bootstrapBrokers: [] }
  const addresses = addressesOf(values)
  const services = ofServices(({ name }) => ({ url: entryOf(addresses, name), httpsUrl: '' }))
  return { services, kafka: nowhere, publisher: nowhere, observers }
}

/** Returns the addresses in a pod of the cluster, from the variables of the pod. */
export function reachFromInside(env: NodeJS.ProcessEnv): Reached {
  const shown = JSON.parse(env[addressesVariable] ?? '{}') as Record<string, string>
  const kafka = kafkaConnection(env)
  const password = env[entryOf(kafkaPasswords, publishUser)]
  return {
    services: ofServices(({ name, http }) => ({ url: `http://${name}:${http}`, httpsUrl: '', shown: shown[name] })),
    kafka,
    publisher: kafka.sasl && password ? { ...kafka, sasl: { ...kafka.sasl, username: publishUser, password } } : kafka,
    observers,
  }
}

/** Returns true in a pod in which a command runs. */
export const isInside = (env: NodeJS.ProcessEnv = process.env): boolean => env[addressesVariable] !== undefined
