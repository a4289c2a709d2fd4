import { paymentEvents } from '@orderflow/envelope-schema'
import { type KafkaConnection, securedKafka } from '@orderflow/stack'
import { newSecret } from '@orderflow/stack/base'
import {
  bodyOf,
  brokerSecurity,
  ensureAccess,
  freePort,
  makeCertificate,
  type ProcessSpec,
  stackUsers,
  streamSettings,
} from '@orderflow/stack/internals'
import { operatorUser, withAdmin } from '@orderflow/stack/operate'
import { atLeast, type Findings, number } from '../report/findings.ts'
import type { Part } from '../report/part.ts'
import { medianRatio } from '../report/statistics.ts'
import { type BenchStack, withBenchStack } from '../support/bench-stack.ts'
import { type Contender, payInTurn, type Sample, summariesOf, withTheirSum } from './outside.ts'

const service = 'payment-service'
const programs = [service, 'payment-sidecar']

/**
 * Measures the cost of security. Compares an open listener of Kafka, the same listener with signed events, and a listener with TLS, authentication
 * and rights.
 */
export const secured: Part = {
  title:
    'OrderCreated of outside publishers in Kafka until they are paid, with a signature, over TLS with a password, and without',

  measure: (run) =>
    withBenchStack(['kafka'], run.tell, async (stack) => {
      const { rounds, events } = run.quick ? { rounds: 1, events: 3_000 } : { rounds: 7, events: 12_000 }
      const kafka = await askingToo(stack)
      const contenders = [
        contender(stack, 'open', {}),
        contender(stack, 'open, signing', { Trust__SigningKeys: newSecret() }),
        contender(stack, 'TLS and SCRAM', streamSettings(kafka)),
      ]
      const samples = await payInTurn(run, stack, contenders, { rounds, events })
      return findings(
        events,
        [...samples].map(([{ name }, found]) => ({ name, samples: found })),
      )
    }),
}

function contender(stack: BenchStack, name: string, settings: Record<string, string>): Contender {
  const specs = programs.map((program): ProcessSpec => {
    const spec = stack.specOf(program)
    return { ...spec, env: { ...spec.env, ...settings } }
  })
  return { name, specs, topic: paymentEvents, database: 'payment' }
}

/** Restarts the broker with an additional listener that requires authentication. */
async function askingToo(stack: BenchStack): Promise<KafkaConnection> {
  const { ports } = stack.plan
  const [port, loopbackPort, { certificate, key }] = await Promise.all([freePort(), freePort(), makeCertificate()])
  const [asking, open] = [`127.0.0.1:${port}`, `127.0.0.1:${ports.kafka}`]
  const settings = brokerSecurity(
    {
      clients: { ASKING: asking },
      broker: `127.0.0.1:${loopbackPort}`,
      controller: `127.0.0.1:${ports.kafkaController}`,
    },
    { password: newSecret(), certificate: bodyOf(certificate), key: bodyOf(key) },
  )
  const withOpen = {
    ...settings,
    listeners: `${settings.listeners},OPEN://${open}`,
    'listener.security.protocol.map': `${settings['listener.security.protocol.map']},OPEN:PLAINTEXT`,
    'super.users': `${settings['super.users']};User:ANONYMOUS`,
  }
  const spec = stack.specOf('kafka')
  const overrides = Object.entries(withOpen).flatMap(([name, value]) => ['--override', `${name}=${value}`])
  await stack.stop([spec])
  stack.launch([{ ...spec, args: [...spec.args, ...overrides] }])
  await stack.wait('Kafka', [], () => missing(withAdmin(stack.kafka, (admin) => admin.listTopics())))

  const passwords = Object.fromEntries(stackUsers.map((user) => [user, newSecret()]))
  await ensureAccess(stack.kafka, passwords)
  const as = (username: string) => securedKafka(asking, { username, password: passwords[username] ?? '' }, certificate)
  await stack.wait('its users', [], () => missing(withAdmin(as(operatorUser), (admin) => admin.listTopics())))
  return as(service)
}

const missing = (question: Promise<unknown>): Promise<string | undefined> =>
  question.then(
    () => undefined,
    (error: Error) => error.message,
  )

function findings(events: number, contenders: { name: string; samples: Sample[] }[]): Findings {
  const summaries = summariesOf(contenders)
  const [open, signing, asking] = summaries.map(({ samples }) => samples)
  const rounds = open?.length ?? 0
  const perSecondOf = (samples: Sample[] = []) => samples.map(({ perSecond }) => perSecond)
  const ofOpen = (samples: Sample[] | undefined) => medianRatio(perSecondOf(samples), perSecondOf(open))
  return {
    tables: [
      {
        title: `${number(events)} events per round, medians of ${rounds}; start is the time from the start of the processes to their first payment`,
        head: ['', 'events/s', 'start s', 'µs of processor time per event: service', 'sidecar', 'Kafka', 'all'],
        rows: summaries.map(({ name, perSecond, startSeconds, microseconds }) => [
          name,
          number(perSecond),
          number(startSeconds, 1),
          ...withTheirSum(microseconds),
        ]),
      },
    ],
    goals: [
      atLeast('signing / open, events/s, median of the rounds', ofOpen(signing), 0.95, 2),
      atLeast('TLS and SCRAM / open, events/s, median of the rounds', ofOpen(asking), 0.8, 2),
    ],
    figures: summaries,
  }
}
