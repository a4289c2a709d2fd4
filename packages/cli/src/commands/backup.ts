import { lstatSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { deadLetterTopic } from '@orderflow/envelope'
import { backUp } from '../backup/backup.ts'
import { copyError } from '../backup/errors.ts'
import { type Content, readContent, requireComplete } from '../backup/folder.ts'
import { requireStopped } from '../backup/groups.ts'
import { restoreLog } from '../backup/restore.ts'
import { kafkaConnection } from '../kafka/connection.ts'
import { consumedTopics, topics } from '../kafka/topics.ts'
import { CliError } from '../lib/error.ts'
import { localFolder } from '../lib/paths.ts'
import { withStackLock } from '../lib/stack-lock.ts'
import { paint, timed } from '../lib/terminal.ts'
import type { ProgressOptions } from '../runner.ts'
import { activeRunner, requireKafka, runningRunner } from './runners.ts'
import { chooseServers } from './stack.ts'

const page = 'docs/operations.md#backup'
const names = topics.containers.map(({ name }) => name)
const isDeadLetters = (name: string) => name.endsWith(deadLetterTopic(''))

/**
 * Runs `./orderflow backup` for the Kafka that environment variables name, otherwise for the running stack.
 * @throws {CliError} `usage` without a folder
 */
export async function backup(folder: string | undefined, env: NodeJS.ProcessEnv): Promise<void> {
  const to = requireFolder(folder, './orderflow backup ../backup')
  const tell = timed()
  const kafka = env.Stream__Brokers ? kafkaConnection(env) : await reachedKafka()
  await backUp(to, {
    kafka,
    events: names.filter((name) => !isDeadLetters(name)),
    deadLetters: names.filter(isDeadLetters),
    groups: [...consumedTopics.keys()],
    tell,
  }).catch((error: unknown) => {
    throw copyError(error, { during: 'the backup', page })
  })
  tell(paint('green', `saved in ${to}`))
}

async function reachedKafka() {
  if ((await activeRunner()).inside) {
    throw new CliError('usage', 'this machine cannot reach the Kafka of the cluster', {
      nextStep: `set Stream__Brokers and the other variables of ${page} where Kafka can be reached`,
    })
  }
  return (await requireKafka()).kafka
}

/**
 * Runs `./orderflow restore`: writes the log of a backup to an empty Kafka, and starts the stack with rebuilt stores. If environment variables name the
 * Kafka, only writes the log.
 * @throws {CliError} `usage` for a folder without a backup, `still-running` if services run
 */
export async function restore(folder: string | undefined, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<void> {
  const from = requireFolder(folder, './orderflow restore ../backup')
  const content = readContent(from)
  if (!content) {
    throw new CliError('usage', `${from} has no complete backup`, {
      nextStep: 'name a folder that ./orderflow backup has written',
    })
  }
  requireKnown(content)
  requireComplete(from, content)
  const tell = timed()
  tell(`restoring the backup of ${content.savedAt}`)
  if (env.Stream__Brokers) {
    await restoreInto(from, content, { kafka: kafkaConnection(env), tell })
    tell(`restored. Next: start the services with rebuilt stores (${page})`)
    return
  }
  await withStackLock(localFolder, tell, () => restoreStack(from, content, env, { onProgress: tell, signal }))
}

/** The caller holds the stack's lock. Otherwise a second restore, or `make up`, could start while records are written. */
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
      nextStep: `set Stream__Brokers to restore into your Kafka (${page})`,
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
    throw copyError(error, { during: 'the restore', page })
  }
}

function requireFolder(folder: string | undefined, example: string): string {
  if (!folder) throw new CliError('usage', 'the folder of the backup is missing', { nextStep: example })
  const path = resolve(folder)
  const entry = lstatSync(path, { throwIfNoEntry: false })
  if (!entry || statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path
  const kind = entry.isSymbolicLink() ? 'a link to a file or to nothing' : 'a file'
  throw new CliError('usage', `${path} is ${kind}, but a backup is a folder`, { nextStep: example })
}

/** @throws {CliError} `usage` if the backup has topics of another application */
function requireKnown({ application, topics }: Content): void {
  const unknown = Object.keys(topics).filter((name) => !names.includes(name))
  if (unknown.length === 0) return
  throw new CliError('usage', `this is a backup of ${application}. services.json does not declare ${unknown}`, {
    nextStep: 'restore it with the application that wrote it, or declare these topics',
  })
}
