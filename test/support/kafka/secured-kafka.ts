import { withAdmin } from '@orderflow/kafka-log'
import { entryOf, type KafkaConnection, securedKafka } from '@orderflow/stack'
import { newSecret, withRetries } from '@orderflow/stack/base'
import {
  bodyOf,
  brokerSecurity,
  brokerUser,
  ensureAccess,
  ensureTopics,
  freePort,
  makeCertificate,
  type Plan,
  prepareKafka,
  processSpecs,
  releaseFolder,
  stackUsers,
  startProcess,
} from '@orderflow/stack/internals'
import { operatorUser, topics } from '@orderflow/stack/operate'
import { claimPlan } from './own-kafka.ts'

/** A broker of this machine that requires authentication, like that of docker-compose.yml. */
export interface SecuredKafka {
  plan: Plan
  certificate: string
  brokerPassword: string
  passwords: Record<string, string>
  /** Returns the connection of a user, by default with the password of the stack. */
  as: (username: string, password?: string) => KafkaConnection
  operator: KafkaConnection
  /** Creates or restores users and rights, as the container `setup` does. */
  ensureAccess: () => ReturnType<typeof ensureAccess>
  stop: () => Promise<void>
}

/** Starts such a broker with the topics, users and rights of services.json. */
export async function startSecuredKafka(name: string): Promise<SecuredKafka> {
  const plan = await claimPlan(name)
  const [{ certificate, key }, loopbackPort] = await Promise.all([makeCertificate(), freePort()])
  const password = newSecret()
  const address = `127.0.0.1:${plan.ports.kafka}`
  const settings = brokerSecurity(
    {
      clients: { CLIENT: address },
      broker: `127.0.0.1:${loopbackPort}`,
      controller: `127.0.0.1:${plan.ports.kafkaController}`,
    },
    { password, certificate: bodyOf(certificate), key: bodyOf(key) },
  )
  await prepareKafka(plan)
  const spec = entryOf(processSpecs(plan), 'kafka')
  const overrides = Object.entries(settings).flatMap(([name, value]) => ['--override', `${name}=${value}`])
  startProcess(plan.folder, { ...spec, args: [...spec.args, ...overrides] })

  const passwords = Object.fromEntries(stackUsers.map((user) => [user, newSecret()]))
  const broker: KafkaConnection = {
    bootstrapBrokers: [`127.0.0.1:${loopbackPort}`],
    sasl: { mechanism: 'PLAIN', username: brokerUser, password },
  }
  const as: SecuredKafka['as'] = (username, own = passwords[username] ?? '') =>
    securedKafka(address, { username, password: own }, certificate)
  await withRetries('Kafka', () => withAdmin(broker, (admin) => admin.listTopics()), 50)
  await ensureAccess(broker, passwords)
  await ensureTopics(as(operatorUser), topics.processes)
  return {
    plan,
    certificate,
    brokerPassword: password,
    passwords,
    as,
    operator: as(operatorUser),
    ensureAccess: () => ensureAccess(broker, passwords),
    stop: () => releaseFolder(plan.folder),
  }
}
