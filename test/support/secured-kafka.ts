import {
  bodyOf,
  brokerSecurity,
  brokerUser,
  ensureAccess,
  ensureTopics,
  entryOf,
  freePort,
  type KafkaConnection,
  makeCertificate,
  newSecret,
  operatorUser,
  type Plan,
  prepareKafka,
  processSpecs,
  releaseFolder,
  securedKafka,
  stackUsers,
  startProcess,
  topics,
  withAdmin,
  withRetries,
} from '@orderflow/cli'
import { claimPlan } from './own-kafka.ts'

/** A broker of this machine that asks everybody who he is, as that of docker-compose.yml does. */
export interface SecuredKafka {
  plan: Plan
  /** PEM. */
  certificate: string
  /** Of the user that the broker itself is. */
  brokerPassword: string
  /** By user. */
  passwords: Record<string, string>
  /** As a user, with the password that the stack gave him unless another is given. */
  as: (username: string, password?: string) => KafkaConnection
  operator: KafkaConnection
  /** Makes users and rights (again), as the container `setup` does. */
  ensureAccess: () => ReturnType<typeof ensureAccess>
  stop: () => Promise<void>
}

/** Starts one in the folder of a test, with the topics, users and rights that follow from services.json. */
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
