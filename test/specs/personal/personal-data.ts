import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reduced } from '@orderflow/chaos/clients/envelopes'
import { envelopeErrorCodes } from '@orderflow/envelope-schema'
import { type LogReader, openLog, positionText } from '@orderflow/kafka-log'
import { type Entry, readDeadLetters } from '@orderflow/service-kit/operations'
import { services, sidecarOf, storedServices, urlOf } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { createProducer, settled, type TestedService, typesOn } from '@orderflow/test-kit'
import type { Operate } from '@orderflow/test-kit/stacks'
import { expect } from 'chai'
import type { StartedCheckout } from '../../support/checkouts/local-checkout.ts'
import { markedRecords } from '../../support/personal/marked-records.ts'
import { markedRequests } from '../../support/personal/marked-requests.ts'
import { Markers } from '../../support/personal/markers.ts'
import { collectTraces } from '../../support/web/trace-collector.ts'

interface Told {
  by: string
  text: string
}

/** Sends marked personal values through all interfaces, also while a part is down. No output may contain one of these values. */
export function personalData(
  tested: readonly TestedService[],
  running: () => StartedCheckout,
  operate: () => Operate,
): void {
  describe('the masking of personal values', () => {
    const markers = new Markers()
    const problems: Told[] = []
    const commands: Told[] = []
    let stack: StartedCheckout
    let folder: string
    let traces: Awaited<ReturnType<typeof collectTraces>>
    let log: LogReader
    let entries: Entry[]
    before(async () => {
      stack = running()
      folder = mkdtempSync(join(tmpdir(), 'personal-data-'))
      traces = await collectTraces()
      log = openLog(stack.kafka)
      await traceAll()
      await sendAll()
      await sendWhileDown('order-sidecar', 'kafka')
      entries = await publishAll()
      await commandAll()
    })
    after(async () => {
      for (const name of Object.keys(traces?.variables ?? {})) delete stack.plan.variables[name]
      await log?.close()
      traces?.close()
      rmSync(folder, { recursive: true, force: true })
    })

    async function traceAll(): Promise<void> {
      Object.assign(stack.plan.variables, traces.variables)
      for (const service of storedServices)
        for (const part of [sidecarOf(service), service.name]) await stack.restart(part)
    }

    async function send(url: string, init: RequestInit): Promise<void> {
      const response = await fetch(url, init)
      const type = response.headers.get('content-type') ?? ''
      // A live view of the monitor never ends, so this test closes it.
      if (type.startsWith('text/event-stream')) return await response.body?.cancel()
      const text = await response.text()
      const isProblem = type.startsWith('application/problem+json')
      if (isProblem) problems.push({ by: `${init.method ?? 'GET'} ${url}: ${response.status}`, text })
    }

    async function sendAll(): Promise<void> {
      for (const { name, parts } of tested) {
        for (const { path, init } of markedRequests(parts.routes, markers)) await send(urlOf(stack, name) + path, init)
      }
      const headers = { 'idempotency-key': randomUUID() }
      for (const which of ['first', 'other']) await place(`of the ${which} order of a key`, headers)
    }

    function place(what: string, headers: Record<string, string> = {}): Promise<void> {
      const [customerName, customerTaxId] = [markers.new(`customerName ${what}`), markers.new(`customerTaxId ${what}`)]
      return send(`${urlOf(stack, 'order-service')}/v1/orders`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ customerName, customerTaxId, total: 1 }),
      })
    }

    async function sendWhileDown(...parts: string[]): Promise<void> {
      for (const part of parts) {
        await stack.kill(part)
        await place(`while ${part} is down`)
        await place(`while ${part} is down, with a key`, { 'idempotency-key': randomUUID() })
        await stack.restart(part)
      }
    }

    /** Publishes all records, waits until the services have handled them, and returns the dead letters. */
    async function publishAll(): Promise<Entry[]> {
      const from = await endsOf()
      const producer = createProducer(stack.kafka)
      for (const service of tested) {
        for (const topic of Object.keys(service.consumes)) {
          await producer.send(...markedRecords(topic, typesOn(service, topic), markers))
        }
      }
      await producer.close()
      const { entries } = await settled(stack, () => readDeadLetters(log))
      return entries.filter(({ origin }) => BigInt(origin.offset) >= (from.get(partitionText(origin)) ?? 0n))
    }

    async function endsOf(): Promise<Map<string, bigint>> {
      const topics = [...new Set(tested.flatMap(({ consumes }) => Object.keys(consumes)))]
      const ends = topics.map(async (topic) =>
        (await log.spans(topic)).map(({ partition, end }) => [partitionText({ topic, partition }), end] as const),
      )
      return new Map((await Promise.all(ends)).flat())
    }

    async function run(service: string, args: string[], env: Record<string, string> = {}): Promise<void> {
      const { stdout, stderr } = await operate()(service, args, env)
      commands.push({ by: `${service} ${args.join(' ')}`, text: stdout + stderr })
    }

    async function commandAll(): Promise<void> {
      const deadLetters = (...args: string[]) => run('order-service', ['dead-letters', ...args])
      await deadLetters()
      await deadLetters('list', 'invalid-payload/order-service')
      // Shows only one dead letter for each event, although both services reject most events.
      const byOrigin = new Map(entries.map(({ id, origin }) => [positionText(origin), id]))
      for (const id of byOrigin.values()) await deadLetters('show', id)
      await deadLetters('replay', 'all', '--dry-run')
      await deadLetters('replay', 'invalid-payload/order-service')
      const [invalid] = entries.filter(({ attempts }) => attempts[0]?.reason === 'invalid-payload')
      const wrong = join(folder, 'wrong.json')
      writeFileSync(
        wrong,
        JSON.stringify(reduced({ CustomerName: markers.new('a file'), Total: markers.new('a file') })),
      )
      await deadLetters('replay', invalid?.id ?? '', '--file', wrong)
      await run('order-service', ['dead-letters', 'replay', invalid?.id ?? '', '--edit'], {
        EDITOR: 'sed -i s/1/2/',
        VISUAL: '',
        TMPDIR: folder,
      })
      for (const { name } of tested) await run(name, ['rebuild'])
      for (const raw of [[], ['--raw']]) {
        const { stdout, stderr } = await stack.orderflow(['publish', wrong, ...raw])
        commands.push({ by: `./orderflow publish ${raw}`, text: stdout + stderr })
      }
    }

    const leaksIn = (told: Told[]) =>
      told.flatMap(({ by, text }) => markers.in(text).map((place) => `${by} tells ${place}`))

    function logs(): Told[] {
      const folder = join(stack.folder, 'logs')
      const files = readdirSync(folder).filter((file) => file.endsWith('.log'))
      return files.map((file) => ({ by: file, text: readFileSync(join(folder, file), 'utf8') }))
    }

    it('keeps personal values out of all problems for clients', () => {
      expect(problems.length).to.be.above(50)
      expect(leaksIn(problems)).to.deep.equal([])
    })

    it('keeps personal values out of the logs of services, sidecars and the broker', () => {
      const all = logs()
      const text = all.map(({ text }) => text).join('\n')
      expect(all.map(({ by }) => by)).to.include.members([
        'kafka.log',
        ...services.flatMap((one) => [`${one.name}.log`, `${sidecarOf(one)}.log`]),
      ])
      for (const what of ['event dead-lettered', 'no handler for this event', 'Not available right now']) {
        expect(text).to.contain(what)
      }
      expect(leaksIn(all)).to.deep.equal([])
    })

    it('keeps personal values out of the output of an operator’s commands', () => {
      const reasons = new Set(entries.flatMap(({ attempts }) => attempts.map(({ reason }) => reason)))
      expect([...reasons]).to.include.members([...envelopeErrorCodes, 'conflicting-order'])
      expect(leaksIn(commands)).to.deep.equal([])
    })

    it('shows personal values to an operator on request', async () => {
      const invalid = entries.find(({ attempts }) => attempts[0]?.reason === 'invalid-payload')
      const { stdout } = await operate()('order-service', ['dead-letters', 'show', invalid?.id ?? '', '--values'])
      expect(markers.in(stdout)).not.to.deep.equal([])
    })

    it('keeps personal values out of all traces', async () => {
      const all = () => traces.received().map(({ text }) => text)
      const said = ['order-sidecar', 'POST /v1/orders', 'process orderevents', 'send orderevents.dead']
      await eventually(() => said.every((what) => all().some((text) => text.includes(what))), 'the traces')
      expect(leaksIn(all().map((text) => ({ by: 'a trace', text })))).to.deep.equal([])
    })
  })
}

const partitionText = ({ topic, partition }: { topic: string; partition: number }) =>
  positionText({ topic, partition, offset: '' })
