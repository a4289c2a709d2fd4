import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { groupPositions, openLog, withAdmin } from '@orderflow/kafka-log'
import type { KafkaConnection } from '@orderflow/stack'
import { eventually, repository } from '@orderflow/stack/base'
import {
  backUp,
  type BackupContent as Content,
  kafkaOf,
  movePositions,
  type Plan,
  readContent,
  releaseFolder,
  restoreLog,
  withCopyLock,
} from '@orderflow/stack/internals'
import { Producer } from '@platformatic/kafka'
import { expect } from 'chai'
import { startKafka } from '../support/kafka/own-kafka.ts'

const [topic, dead, group] = ['restored', 'restored.dead', 'a-restored-group']
const counts = { [topic]: 2, [dead]: 4 }
const events = 3_000
const hourMs = 3_600_000

describe('the restore of a backup into a real log', function () {
  this.timeout(120_000)
  let plan: Plan
  let kafka: KafkaConnection
  let content: Content
  const folder = mkdtempSync(join(tmpdir(), 'restore-'))

  /** Creates a topic, and waits until the broker lists it, because the controller answers earlier. */
  const create = (name: string, partitions: number) =>
    withAdmin(kafka, async (admin) => {
      await admin.createTopics({
        ...{ topics: [name], partitions, replicas: 1 },
        configs: [{ name: 'message.timestamp.after.max.ms', value: '9223372036854775807' }],
      })
      while (!(await admin.listTopics()).includes(name));
    })
  /** Removes the restored topics and the group, as on an empty machine. */
  async function empty(): Promise<void> {
    await withAdmin(kafka, async (admin) => {
      const own = (await admin.listTopics()).filter((name) => name in counts)
      if (own.length > 0) await admin.deleteTopics({ topics: own })
      await admin.deleteGroups({ groups: [group] }).catch(() => {})
      while ((await admin.listTopics()).some((name) => name in counts));
    })
  }
  async function write(name: string, partition: number, values: string[], time = Date.now()): Promise<void> {
    const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ clientId: 'test', ...kafka })
    const messages = values.map((value) => ({
      ...{ topic: name, partition, value: Buffer.from(value), timestamp: BigInt(time) },
    }))
    await producer.send({ messages, acks: -1 })
    await producer.close()
  }
  async function texts(name: string): Promise<string[]> {
    const log = openLog(kafka)
    const found: string[] = []
    try {
      for await (const records of log.read(name, await log.spans(name)))
        found.push(...records.map(({ value }) => value.toString()))
    } finally {
      await log.close()
    }
    return found
  }
  const partitionCount = (name: string) =>
    withAdmin(kafka, async (admin) => (await admin.metadata({ topics: [name] })).topics.get(name)?.partitionsCount)
  async function restore(): Promise<string[]> {
    const lines: string[] = []
    await restoreLog(folder, content, { kafka, tell: (line) => lines.push(line) })
    return lines
  }

  before(async function () {
    this.timeout(0)
    plan = await startKafka('restore')
    kafka = kafkaOf(plan)
    for (const [name, partitions] of Object.entries(counts)) await create(name, partitions)
    const numbers = Array.from({ length: events }, (_, index) => String(index))
    await write(topic, 0, numbers)
    // The clock of the broker was ahead for a while.
    await write(topic, 1, ['ahead'], Date.now() + 48 * hourMs)
    await write(topic, 1, ['corrected'])
    await write(dead, 3, ['a dead letter'])
    // The broker creates the log of positions at the first request.
    await eventually(
      () => withAdmin(kafka, (admin) => groupPositions(admin, [group])).catch(() => undefined),
      'the coordinator of the group',
    )
    await movePositions(kafka, [{ group, topic, partition: 0, offset: 5n }])
    await backUp(folder, { kafka, events: [topic], deadLetters: [dead], groups: [group], tell: () => {} })
    content = readContent(folder) as Content
  })
  beforeEach(empty)
  after(async () => {
    rmSync(folder, { recursive: true, force: true })
    if (plan) await releaseFolder(plan.folder)
  })

  it('writes the log once if two commands restore it at the same time', async () => {
    for (const [name, partitions] of Object.entries(counts)) await create(name, partitions)
    const lines = await Promise.all([restore(), restore()])
    expect((await texts(topic)).toSorted()).to.have.length(events + 2)
    expect(await texts(dead)).to.deep.equal(['a dead letter'])
    const ends = lines.map((own) => own.at(-1))
    expect(ends.filter((line) => line === 'the log is already restored')).to.have.length(1)
    expect(await withAdmin(kafka, (admin) => groupPositions(admin, [group]))).to.deep.equal([
      { group, topic, partition: 0, offset: 5n },
    ])
  })

  it('gives each topic the partitions of the backup, also a topic that exists with another number', async () => {
    await create(dead, 1)
    await create(topic, 5)
    await restore()
    for (const [name, partitions] of Object.entries(counts)) expect(await partitionCount(name)).to.equal(partitions)
    expect(await texts(dead)).to.deep.equal(['a dead letter'])
    expect(await texts(topic)).to.include.members(['ahead', 'corrected'])
  })

  it('writes nothing if any topic has other records, or if the backup is damaged', async () => {
    const refusal = () =>
      restore().then(
        () => undefined,
        (error: Error) => error.message,
      )
    await create(topic, counts[topic] as number)
    await create(dead, counts[dead] as number)
    await write(dead, 3, ['another dead letter'])
    expect(await refusal()).to.include('the new log has other records')
    expect(await texts(topic)).to.deep.equal([])
    await empty()
    await create(topic, counts[topic] as number)
    await create(dead, 1)
    await write(dead, 0, ['another dead letter'])
    expect(await refusal()).to.include(`${dead} has records and 1 partitions, and 4 in the backup`)
    expect(await texts(topic)).to.deep.equal([])
    await empty()
    await create(topic, counts[topic] as number)
    const name = `${'0'.padStart(20, '0')}-${'0'.padStart(20, '0')}.jsonl.gz`
    const file = join(folder, dead, '3', name)
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.subarray(0, -9))
    expect(await refusal()).to.include('is damaged')
    writeFileSync(file, bytes)
    expect(await texts(topic)).to.deep.equal([])
  })

  it('refuses to write while another command copies records to this Kafka', async () => {
    await withCopyLock(
      kafka,
      () => {},
      async ({ requireHeld }) => {
        const lines: string[] = []
        const options = { kafka, tell: (line: string) => lines.push(line) }
        const refusal = await restoreLog(folder, content, options).catch((error: unknown) => error)
        expect(refusal).to.have.property('code', 'busy')
        expect(lines.join()).to.include('waiting for another restore')
        await requireHeld()
      },
    )
    expect(await restore()).to.have.length(2)
  })

  it('continues after a restore that was killed, and after one on another machine', async () => {
    const program = `
      import { readContent, restoreLog } from '@orderflow/stack/internals'
      const folder = ${JSON.stringify(folder)}
      const tell = (line) => { console.log(line); if (line.startsWith('restored')) process.kill(process.pid, 'SIGKILL') }
      await restoreLog(folder, readContent(folder), { kafka: ${JSON.stringify(kafka)}, tell })`
    const killed = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      ...{ cwd: join(repository, 'test'), stdio: ['ignore', 'pipe', 'inherit'] },
    })
    const [, signal] = await once(killed, 'exit')
    expect(signal).to.equal('SIGKILL')
    const lines = await restore()
    expect(lines.join()).to.include('of them by an earlier run')
    expect(await texts(topic)).to.have.length(events + 2)
    expect(await restore()).to.deep.equal(['the log is already restored'])
  })
})
