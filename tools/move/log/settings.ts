import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { momentProblem, parseMoment } from '@orderflow/envelope'
import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import { kafkaPasswords, securedKafka } from '@orderflow/stack'
import { CliError, pemOf, runTool } from '@orderflow/stack/base'
import { kafkaConnection } from '@orderflow/stack/internals'
import { operatorUser } from '@orderflow/stack/operate'

/** The log of an application: its Kafka, and the keys with which its services sign events. */
export interface Side {
  kafka: KafkaConnection
  /** The file with the settings of the connection. Errors name it. */
  file: string
  signingKeys: string[]
  /** Events that reached the log before this time need no signature, in milliseconds since 1970. */
  signedSince: number
  /** Starts only Kafka; the services stay stopped. */
  start(): Promise<void>
}

const usualPort = 9092

/**
 * Returns the log of an application that `make up` has started at least once. A folder with `.env` has containers, unless STACK is `local`.
 * @param folder the application's repository
 * @param settingsFile a file with the variables of another Kafka cluster (components/README.md), which must be running
 */
export function sideOf(folder: string, settingsFile?: string): Side {
  if (settingsFile) return ownCluster(settingsFile)
  const { portOffset = 0 } = servicesOf(folder)
  return existsSync(join(folder, '.env')) && process.env.STACK !== 'local'
    ? containers(folder, usualPort + portOffset)
    : processes(folder, portOffset)
}

export interface ServicesFile {
  portOffset?: number
  services: Record<string, { consumes: Record<string, string>; produces: Record<string, string[]> }>
}

export const servicesOf = (folder: string): ServicesFile =>
  JSON.parse(readFileSync(join(folder, 'services.json'), 'utf8'))

function wrong(file: string, problem: string, nextStep = `correct this file (${variablesPage})`): CliError {
  return new CliError('settings', `${file}: ${problem}`, { nextStep })
}

const variablesPage = 'components/README.md#variables'

/** @param since the name and the value of a variable */
function signatures(
  file: string,
  keys = '',
  [name, since = '']: [name: string, value?: string | undefined],
): Pick<Side, 'signingKeys' | 'signedSince'> {
  const problem = since && momentProblem(since)
  if (problem) throw wrong(file, `${name} ${problem}`, 'correct this variable (docs/trust.md)')
  return {
    signingKeys: keys.split(',').filter(Boolean),
    signedSince: since ? Number(parseMoment(since)) : Number.NEGATIVE_INFINITY,
  }
}

function containers(folder: string, port: number): Side {
  const file = join(folder, '.env')
  const env = parseEnv(readFileSync(file, 'utf8'))
  function required(name: string): string {
    const value = env[name]
    if (value) return value
    const nextStep = `run make up and then make down in ${folder}. If its Kafka is not in a container, set STACK=local`
    throw wrong(file, `${name} is missing`, nextStep)
  }
  const password = required(kafkaPasswords[operatorUser] ?? '')
  const certificate = pemOf('CERTIFICATE', required('KAFKA_CERTIFICATE'))
  return {
    file,
    kafka: securedKafka(`localhost:${env.KAFKA_PORT || port}`, { username: operatorUser, password }, certificate),
    ...signatures(file, env.SIGNING_KEYS, ['SIGNED_SINCE', env.SIGNED_SINCE]),
    start: async () => {
      await runTool('docker', ['compose', 'up', '--detach', '--wait', 'kafka'], { cwd: folder }).catch(
        (cause: Error) => {
          const nextStep = 'start Docker. If the Kafka of this folder is not in a container, set STACK=local'
          throw new CliError('no-engine', `the Kafka of ${folder} did not start: ${cause.message}`, { nextStep, cause })
        },
      )
    },
  }
}

function processes(folder: string, portOffset: number): Side {
  const properties = join(folder, '.stack/data/kafka.properties')
  const text = existsSync(properties) ? readFileSync(properties, 'utf8') : ''
  const port = Number(/^listeners=.*?127\.0\.0\.1:(\d+)/m.exec(text)?.[1])
  if (!port) {
    throw new CliError('usage', `${folder} has no log`, { nextStep: `run make up and then make down in ${folder}` })
  }
  return {
    file: properties,
    kafka: { bootstrapBrokers: [`127.0.0.1:${port}`] },
    signingKeys: [],
    signedSince: Number.NEGATIVE_INFINITY,
    start: async () => {
      // The programs of the application start Kafka, because each version has its own settings.
      const isOld = existsSync(join(folder, 'stack/node'))
      const [command, first] = isOld ? ['stack/node', []] : ['./orderflow', ['node']]
      const module = isOld ? '@orderflow/stack/parts' : '@orderflow/cli'
      const script = `
        import { createPlan, ensureRunning, localPorts } from '${module}'
        const plan = await createPlan(process.cwd() + '/.stack', localPorts())
        const more = plan.brokers === 3 ? ['kafka-2', 'kafka-3'] : []
        await ensureRunning(plan, ['kafka', ...more], { onProgress: () => {} })`
      const env = { PORT_OFFSET: String(port - usualPort - portOffset) }
      await runTool(command, [...first, '--input-type=module', '--eval', script], { cwd: folder, env })
    },
  }
}

function ownCluster(file: string): Side {
  const env = readSettings(file)
  return {
    file,
    kafka: connectionIn(file, env),
    ...signatures(file, env.Trust__SigningKeys, ['Trust__SignedSince', env.Trust__SignedSince]),
    start: async () => {},
  }
}

function readSettings(file: string): NodeJS.ProcessEnv {
  try {
    return parseEnv(readFileSync(file, 'utf8'))
  } catch (cause) {
    const nextStep = `write the variables of the Kafka cluster into this file (${variablesPage})`
    throw new CliError('settings', `${file} cannot be read: ${(cause as Error).message}`, { nextStep, cause })
  }
}

function connectionIn(file: string, env: NodeJS.ProcessEnv): KafkaConnection {
  // An unquoted value ends at its line break.
  if (env.Stream__CaCert && !env.Stream__CaCert.includes('-----END CERTIFICATE-----'))
    throw wrong(file, 'Stream__CaCert is not a certificate in PEM', 'write all lines of the certificate, in quotes')
  try {
    return kafkaConnection(env)
  } catch (error) {
    throw error instanceof CliError ? wrong(file, error.message) : error
  }
}
