import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createEnvelope } from '@orderflow/envelope'
import { headerOf, openLog } from '@orderflow/kafka-log'
import { expect } from 'chai'
import { repository } from '../../src/application/paths.ts'
import { eventually } from '../../src/base/run-tool.ts'
import { localKafka } from '../../src/kafka/connection.ts'
import { ensureTopics } from '../../src/kafka/topics.ts'
import type { Plan } from '../../src/processes/plan.ts'

const app = { id: '0b5c3d6e-8f1a-4b2c-9d3e-4f5a6b7c8d9e', name: 'legacy-shop' }

function order() {
  const payload = { OrderId: randomUUID(), CustomerName: 'Ada Lovelace', CustomerTaxId: 'GB-1', Total: 1 }
  return createEnvelope({ type: 'OrderCreated@1', app, payload, creationDate: new Date() })
}

function start(args: string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const cli = join(repository, 'packages/envelope/src/cli/main.ts')
  return spawn(process.execPath, [cli, ...args], { env: { ...process.env, ...env } })
}

async function ended(child: ChildProcess) {
  const exit = new Promise((resolve) => child.once('close', resolve))
  const [out, error] = [child.stdout, child.stderr].map((stream) => (stream ? text(stream) : ''))
  return { out: await out, error: await error, code: await exit }
}

export function envelopeCommand(planned: () => Plan): void {
  describe('the command `envelope`', () => {
    let brokers: string
    const topic = `parcels-${randomUUID()}`
    before(async () => {
      const kafka = localKafka(planned().ports.kafka)
      brokers = kafka.bootstrapBrokers.join()
      const configs = { 'max.message.bytes': '262144' }
      await ensureTopics(kafka, [{ name: topic, partitions: 2, consumerGroups: [], configs }])
    })

    async function run(args: string[], input = '') {
      const child = start(args, { ENVELOPE_BROKERS: brokers, ENVELOPE_TOPIC: topic })
      child.stdin?.end(input)
      return await ended(child)
    }

    async function records() {
      const log = openLog({ bootstrapBrokers: [brokers] })
      const found = new Map<string, { key: string | undefined; traceparent: string | undefined }>()
      for await (const chunk of log.read(topic, await log.spans(topic))) {
        for (const record of chunk) {
          const traceparent = headerOf(record, 'traceparent')
          found.set(record.value.toString(), { key: record.key?.toString(), traceparent })
        }
      }
      await log.close()
      return found
    }

    it('publishes the bytes of an envelope unchanged, with its key and trace', async () => {
      const event = order()
      const pretty = JSON.stringify(event, null, 2)
      const { out, error, code } = await run(['publish', '-'], pretty)
      expect({ error, code }).to.deep.equal({ error: '', code: 0 })
      expect(out).to.match(
        new RegExp(`^published 1 to ${topic}: partition \\d, offset \\d+, key ${event.Payload.OrderId}\n$`),
      )
      const record = (await records()).get(pretty)
      expect(record?.key).to.equal(event.Payload.OrderId)
      const traceId = event.TraceId.replaceAll('-', '')
      expect(record?.traceparent).to.match(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`))
    })

    it('publishes all valid envelopes in several batches, and names the invalid ones', async () => {
      const lines = Array.from({ length: 1_500 }, () => JSON.stringify(order()))
      const { out, error, code } = await run(['publish', '-'], [...lines, '{"Name":"x"', ''].join('\n'))
      expect(code).to.equal(1)
      expect(error).to.equal('-:1501: the document is not JSON: see position 11\n')
      expect(out).to.equal(`published 1500 to ${topic}; 1 invalid, not published\n`)
      const found = await records()
      expect(lines.filter((line) => !found.has(line))).to.deep.equal([])
    })

    it('names the envelopes that are too large for the topic, and publishes nothing after them', async () => {
      const [large, after] = [{ ...order(), Headers: { Note: 'x'.repeat(300_000) } }, order()]
      const { out, error, code } = await run(
        ['publish', '-'],
        [large, after].map((each) => JSON.stringify(each)).join('\n'),
      )
      expect(code).to.equal(1)
      expect(error).to.match(
        /^-:1: may be missing in Kafka; publish these envelopes again, and all later ones: .*MESSAGE_TOO_LARGE/,
      )
      expect(out).to.equal(`published 0 to ${topic}\n`)
      expect((await records()).has(JSON.stringify(after))).to.equal(false)
    })

    it('reports that no broker answers', async () => {
      const { error, code } = await run(['publish', '-', '--brokers', 'localhost:1'], JSON.stringify(order()))
      expect(code).to.equal(1)
      expect(error).to.match(
        /^-:1: may be missing in Kafka; publish these envelopes again, and all later ones: .*ECONNREFUSED/,
      )
    })

    it('prints all events of a topic with or without personal data, or only those of one conversation', async () => {
      const [one, other] = [order(), order()]
      const followers = [[], ['--values'], ['--correlation', one.CorrelationId.toUpperCase()]].map((options) =>
        start(['tail', '--from-start', ...options], { ENVELOPE_BROKERS: brokers, ENVELOPE_TOPIC: topic }),
      )
      const outputs = followers.map(() => '')
      for (const [index, { stdout }] of followers.entries()) stdout?.on('data', (data) => (outputs[index] += data))
      const ends = followers.map((child) => ended(child))
      expect((await run(['publish', '-'], `${JSON.stringify(other)}\n${JSON.stringify(one)}`)).code).to.equal(0)
      const hasOne = (output: string | undefined) => output?.includes(one.Id) && output.endsWith('\n')
      await eventually(
        () => outputs.every(hasOne) && outputs.slice(0, 2).every((each) => each.includes(other.Id)),
        'all saw it',
      )
      for (const child of followers) child.kill('SIGINT')
      for (const { code, error } of await Promise.all(ends))
        expect({ code, error }).to.deep.equal({ code: 0, error: '' })
      const seen = outputs.map((output) =>
        output
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      )
      const [masked, whole, ofOne] = seen.map((records) => records.find(({ envelope }) => envelope.Id === one.Id))
      expect(masked.envelope.Payload).to.deep.equal({
        ...one.Payload,
        CustomerName: '*** (12 characters)',
        CustomerTaxId: '*** (4 characters)',
      })
      expect(outputs[0]).not.to.contain('Lovelace')
      expect(whole.envelope).to.deep.equal(one)
      expect(ofOne.key).to.equal(one.Payload.OrderId)
      expect(seen[2]).to.have.length(1)
    })
  })
}
