import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { CliError, kafkaConnection, kafkaPasswords, operatorUser, pemOf, runTool, securedKafka } from '@orderflow/cli'
import { parseMoment } from '@orderflow/envelope'
import type { KafkaConnection } from '@orderflow/service-kit/kafka'

/** The log of an application: its Kafka, and the keys with which its services sign events. */
export interface Side {
  kafka: KafkaConnection
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
  if (settingsFile) {
    if (!existsSync(settingsFile)) {
      throw new CliError('settings', `${settingsFile} does not exist`, {
        nextStep: 'write the variables of the Kafka cluster into this file (docs/from-0.1.md)',
      })
    }
    return ownCluster(readEnv(settingsFile))
  }
  const { portOffset = 0 } = servicesOf(folder)
  const env = join(folder, '.env')
  return existsSync(env) && process.env.STACK !== 'local'
    ? containers(folder, readEnv(env), usualPort + portOffset)
    : processes(folder, portOffset)
}

const readEnv = (file: string): NodeJS.ProcessEnv => parseEnv(readFileSync(file, 'utf8'))

export interface ServicesFile {
  portOffset?: number
  services: Record<string, { consumes: Record<string, string>; produces: Record<string, string[]> }>
}

export const servicesOf = (folder: string): ServicesFile =>
  JSON.parse(readFileSync(join(folder, 'services.json'), 'utf8'))

function signatures(keys?: string, since?: string): Pick<Side, 'signingKeys' | 'signedSince'> {
  const signingKeys = (keys ?? '').split(',').filter(Boolean)
  return { signingKeys, signedSince: since ? Number(parseMoment(since)) : Number.NEGATIVE_INFINITY }
}

function containers(folder: string, env: NodeJS.ProcessEnv, port: number): Side {
  const password = env[kafkaPasswords[operatorUser] ?? ''] ?? ''
  const certificate = pemOf('CERTIFICATE', env.KAFKA_CERTIFICATE ?? '')
  return {
    kafka: securedKafka(`localhost:${env.KAFKA_PORT ?? port}`, { username: operatorUser, password }, certificate),
    ...signatures(env.SIGNING_KEYS, env.SIGNED_SINCE),
    start: async () => {
      await runTool('docker', ['compose', 'up', '--detach', '--wait', 'kafka'], { cwd: folder })
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
    kafka: { bootstrapBrokers: [`127.0.0.1:${port}`] },
    ...signatures(),
    start: async () => {
      // The programs of the application start Kafka, because each version has its own settings.
      const isOld = existsSync(join(folder, 'stack/node'))
      const [command, first] = isOld ? ['stack/node', []] : ['./orderflow', ['node']]
      const module = isOld ? '@orderflow/stack/parts' : '@orderflow/cli'
      const script = `
        import { createPlan, ensureRunning, localPorts } from '${module}'
        const plan = await createPlan(process.cwd() + '/.stack', localPorts())
        await ensureRunning(plan, ['kafka'], { onProgress: () => {} })`
      const env = { PORT_OFFSET: String(port - usualPort - portOffset) }
      await runTool(command, [...first, '--input-type=module', '--eval', script], { cwd: folder, env })
    },
  }
}

function ownCluster(env: NodeJS.ProcessEnv): Side {
  return {
    kafka: kafkaConnection(env),
    ...signatures(env.Trust__SigningKeys, env.Trust__SignedSince),
    start: async () => {},
  }
}
