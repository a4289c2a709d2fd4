import { chooseServers, type ProgressOptions, runningRunner, withStackLock } from '@orderflow/stack'
import { CliError, localFolder, paint, timed } from '@orderflow/stack/base'
import {
  type BackupContent,
  consumedTopics,
  copyError,
  kafkaConnection,
  readContent,
  requireComplete,
  requireStopped,
  restoreLog,
} from '@orderflow/stack/operate'
import type { Command } from '../../command-line.ts'
import { topicNames } from '../../near-kafka.ts'
import { stackOptions, stackSettings } from '../../stack-options.ts'
import { backupPage, requireFolder } from '../backup-folder.ts'

/** Writes to the Kafka that environment variables name. Otherwise writes to that of the stopped stack, and starts the stack. */
export const command: Command = {
  parameters: 'DIR',
  options: stackOptions,
  async run(given) {
    const env = stackSettings(given)
    const from = requireFolder(given.args[0], './orderflow restore ../backup')
    const content = requireContent(from)
    const tell = timed()
    tell(`restoring the backup of ${content.savedAt}`)
    if (env.Stream__Brokers) {
      await restoreInto(from, content, { kafka: kafkaConnection(env), tell })
      tell(`restored. Next: start the services with rebuilt stores (${backupPage})`)
      return
    }
    const options = { onProgress: tell, signal: given.signal() }
    await withStackLock(localFolder, tell, () => restoreStack(from, content, env, options))
  },
}

/** @throws {CliError} `usage` without a complete backup, or if the backup has topics of another application */
function requireContent(folder: string): BackupContent {
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

/** The caller holds the stack's lock. Otherwise a second restore, or `make up`, could start while records are written. */
async function restoreStack(
  from: string,
  content: BackupContent,
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
