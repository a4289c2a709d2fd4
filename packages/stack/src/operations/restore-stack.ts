import { deadLetterTopic } from '@orderflow/envelope'
import { localFolder } from '../application/paths.ts'
import { withStackLock } from '../application/stack-record.ts'
import { backUp } from '../backup/backup.ts'
import { copyError } from '../backup/errors.ts'
import { type Content, readContent, requireComplete } from '../backup/folder.ts'
import { requireStopped } from '../backup/groups.ts'
import { restoreLog } from '../backup/restore.ts'
import { CliError } from '../base/error.ts'
import { paint } from '../base/terminal.ts'
import { kafkaConnection } from '../kafka/connection.ts'
import { consumedTopics, eventTopics } from '../kafka/topics.ts'
import type { ProgressOptions } from '../runner.ts'
import { activeRunner, runningRunner } from '../runners.ts'
import { chooseServers } from '../start.ts'
import { backupPage, namedKafka, topicNames } from './named-kafka.ts'

/** Writes a backup to the Kafka that the variables name. Otherwise writes it to that of the stopped stack, and starts the stack. */
export async function restore(from: string, env: NodeJS.ProcessEnv, options: ProgressOptions): Promise<void> {
  const tell = options.onProgress
  const content = requireContent(from)
  tell(`restoring the backup of ${content.savedAt}`)
  if (env.Stream__Brokers) {
    await restoreInto(from, content, { kafka: kafkaConnection(env), tell })
    tell(`restored. Next: start the services with rebuilt stores (${backupPage})`)
    return
  }
  // Otherwise a second restore, or `make up`, could start while records are written.
  await withStackLock(localFolder, tell, () => restoreStack(from, content, env, options))
}

/** @throws {CliError} `usage` without a complete backup, or if the backup has topics of another application */
function requireContent(folder: string): Content {
  const content = readContent(folder)
  if (!content) {
    throw new CliError('usage', `${folder} has no complete backup`, {
      nextStep: 'name a folder that ./orderflow backup has written',
    })
  }
  const unknown = Object.keys(content.topics).filter((name) => !topicNames.includes(name))
  if (unknown.length > 0) {
    const what = `this is a backup of ${content.application}. services.json does not declare ${unknown}`
    throw new CliError('usage', what, {
      nextStep: 'restore it with the application that wrote it, or declare these topics',
    })
  }
  requireComplete(folder, content)
  return content
}

async function restoreStack(
  from: string,
  content: Content,
  env: NodeJS.ProcessEnv,
  options: ProgressOptions,
): Promise<void> {
  const tell = options.onProgress
  if (await runningRunner()) {
    throw new CliError('still-running', 'the stack runs', { nextStep: 'make down, then ./orderflow restore' })
  }
  const { runner, servers } = await chooseServers(env, options)
  if (!runner.startKafka) {
    throw new CliError('usage', `Kafka is not a part of the stack ${runner.title}`, {
      nextStep: `set Stream__Brokers to restore into your Kafka (${backupPage})`,
    })
  }
  await restoreInto(from, content, { kafka: await runner.startKafka({ ...servers, ...options }), tell })
  await runner.up({ ...servers, observed: false, rebuild: true, ...options })
  tell(paint('green', 'restored and up'))
}

async function restoreInto(...[folder, content, options]: Parameters<typeof restoreLog>): Promise<void> {
  const { kafka, tell } = options
  const nextStep = 'make down, or stop the services on their platform'
  try {
    await requireStopped(kafka, [...consumedTopics.keys()], { nextStep, tell })
    await restoreLog(folder, content, options)
  } catch (error) {
    throw copyError(error, { during: 'the restore', page: backupPage })
  }
}

const isDeadLetters = (name: string) => name.endsWith(deadLetterTopic(''))

/**
 * Saves the log of the Kafka that environment variables name, otherwise that of the running stack.
 * @throws {CliError} `usage` if this machine cannot reach the Kafka of a cluster
 */
export async function backUpLog(folder: string, tell: (line: string) => void): Promise<void> {
  if (!process.env.Stream__Brokers && (await activeRunner()).inside) {
    throw new CliError('usage', 'this machine cannot reach the Kafka of the cluster', {
      nextStep: `set Stream__Brokers and the other variables of ${backupPage} where Kafka can be reached`,
    })
  }
  const topics = Object.groupBy(eventTopics, (name) => (isDeadLetters(name) ? 'deadLetters' : 'events'))
  const { events = [], deadLetters = [] } = topics
  const kafka = await namedKafka()
  await backUp(folder, { kafka, events, deadLetters, groups: [...consumedTopics.keys()], tell }).catch(
    (error: unknown) => {
      throw copyError(error, { during: 'the backup', page: backupPage })
    },
  )
}
