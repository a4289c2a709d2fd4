import type { KafkaAddress } from '../kafka/address.ts'
import { oneOf, readGiven, UsageError } from './usage.ts'

/** Options of every command that connects to Kafka. Passwords are not options, because other users can read command lines. */
export const kafkaOptions = {
  brokers: { type: 'string' },
  topic: { type: 'string' },
  username: { type: 'string' },
  'password-file': { type: 'string' },
  mechanism: { type: 'string' },
  tls: { type: 'boolean' },
  'no-tls': { type: 'boolean' },
  ca: { type: 'string' },
} as const

export const kafkaHelp = `  --brokers HOST:PORT,...   or the variable ENVELOPE_BROKERS
  --topic NAME              or ENVELOPE_TOPIC
  --username NAME           or ENVELOPE_USERNAME. Set its password in ENVELOPE_PASSWORD, or in a file:
  --password-file FILE      or ENVELOPE_PASSWORD_FILE
  --mechanism NAME          or ENVELOPE_MECHANISM: SCRAM-SHA-512 (default), SCRAM-SHA-256 or PLAIN
  --tls, --no-tls           or ENVELOPE_TLS=true|false. Default: TLS if a username or --ca is set
  --ca FILE                 or ENVELOPE_CA: a PEM file that replaces the authorities that Node trusts
`

const mechanisms = ['SCRAM-SHA-512', 'SCRAM-SHA-256', 'PLAIN'] as const

type Values = { [Name in keyof typeof kafkaOptions]?: string | boolean | undefined }

/**
 * Returns address and topic: from the options, otherwise from the environment.
 * @throws {UsageError} naming the missing or wrong option
 */
export function connectionOf(values: Values, env: NodeJS.ProcessEnv): { address: KafkaAddress; topic: string } {
  const value = (name: keyof Values) => {
    const given = values[name] ?? env[`ENVELOPE_${name.replace('-', '_').toUpperCase()}`]
    return typeof given === 'string' && given !== '' ? given : undefined
  }
  const brokers =
    value('brokers')
      ?.split(',')
      .map((broker) => broker.trim())
      .filter(Boolean) ?? []
  if (brokers.length === 0) throw new UsageError('no Kafka address: set --brokers HOST:PORT or ENVELOPE_BROKERS')
  const wrong = brokers.find((broker) => !/^[^:/\s]+:\d{1,5}$|^\[[\da-f:.]+\]:\d{1,5}$/i.test(broker))
  if (wrong) throw new UsageError(`--brokers: ${wrong} is not HOST:PORT`)
  const topic = value('topic')
  if (!topic) throw new UsageError('no topic: set --topic or ENVELOPE_TOPIC')
  const [username, ca] = [value('username'), value('ca')]
  const isNamed = env.ENVELOPE_TLS ? env.ENVELOPE_TLS === 'true' : undefined
  const isTls = values.tls || (values['no-tls'] ? false : isNamed)
  return {
    topic,
    address: {
      bootstrapBrokers: brokers,
      ...(username && {
        sasl: {
          mechanism: oneOf('--mechanism', value('mechanism') ?? 'SCRAM-SHA-512', mechanisms),
          username,
          password: passwordOf(),
        },
      }),
      ...((isTls ?? (username !== undefined || ca !== undefined)) && {
        tls: ca ? { ca: readGiven('--ca', ca).toString() } : {},
      }),
    },
  }

  function passwordOf(): string {
    const file = value('password-file')
    const password = file
      ? readGiven('--password-file', file)
          .toString()
          .replace(/\r?\n$/, '')
      : env.ENVELOPE_PASSWORD
    if (password) return password
    throw new UsageError(`no password for ${username}: set ENVELOPE_PASSWORD or --password-file`)
  }
}
