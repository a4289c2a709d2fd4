import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withAdmin } from '@orderflow/kafka-log'
import { entryOf, type KafkaConnection } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { dataFolder, freePort, type Plan, processSpecs } from '@orderflow/stack/internals'

/** A second broker of a plan’s cluster, which leads the partitions that a test assigns to it. */
export interface SecondBroker {
  id: number
  start(): Promise<void>
  /** Kills the broker with SIGKILL. Its partitions then have no leader. */
  kill(): Promise<void>
}

export async function secondBroker(plan: Plan, kafka: KafkaConnection): Promise<SecondBroker> {
  const id = 2
  const { command, args } = entryOf(processSpecs(plan), 'kafka')
  const machine = args.slice(0, args.indexOf('kafka.Kafka'))
  const first = args.at(-1) as string
  const file = join(dataFolder(plan.folder), 'kafka-2.properties')
  const settings = readFileSync(first, 'utf8').replace(/^(process\.roles|node\.id|listeners|log\.dirs)=.*\n/gm, '')
  const port = await freePort()
  const own = `process.roles=broker\nnode.id=${id}\nlisteners=PLAINTEXT://127.0.0.1:${port}\n`
  const protocols = 'listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT\n'
  writeFileSync(file, `${settings}${own}${protocols}log.dirs=${join(dataFolder(plan.folder), 'kafka-2')}\n`)
  const meta = readFileSync(join(dataFolder(plan.folder), 'kafka', 'meta.properties'), 'utf8')
  const cluster = /^cluster\.id=(.*)$/m.exec(meta)?.[1]
  const format = ['kafka.tools.StorageTool', 'format', `--cluster-id=${cluster}`, '-c', file]
  execFileSync(command, [...machine, ...format], { stdio: 'pipe' })
  let process: ChildProcess | undefined

  const isLeading = () =>
    withAdmin(kafka, async (admin) => (await admin.metadata({ topics: [], forceUpdate: true })).brokers.has(id))

  return {
    id,
    async start() {
      process = spawn(command, [...machine, 'kafka.Kafka', file, '--override', 'authorizer.class.name='], {
        stdio: 'ignore',
      })
      await eventually(isLeading, 'the second broker')
    },
    async kill() {
      if (!process || process.exitCode !== null || process.signalCode !== null) return
      process.kill('SIGKILL')
      await once(process, 'exit')
      await eventually(async () => !(await isLeading()), 'the cluster without the second broker')
    },
  }
}
