import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { orderUrl, orderWith, paymentsOf, paymentUrl } from '@orderflow/chaos/clients/api'
import { full } from '@orderflow/chaos/clients/envelopes'
import { urlOf } from '@orderflow/stack'
import { eventually, repository } from '@orderflow/stack/base'
import { freePort } from '@orderflow/stack/internals'
import { openLog } from '@orderflow/test-kit'
import type { Ended } from '@orderflow/test-kit/stacks'
import { expect } from 'chai'
import { type LocalCheckout, localCheckout, type StartedCheckout } from '../support/checkouts/local-checkout.ts'
import { type SecuredKafka, startSecuredKafka } from '../support/kafka/secured-kafka.ts'
import type { Example } from './example.ts'
import { examples } from './languages.ts'

const languages = ['python', 'go', 'java', 'kcat']

describe('each example of a publisher', () => {
  let folder: string
  let found: Map<string, Example>
  before(async function () {
    this.timeout(600_000)
    folder = mkdtempSync(join(tmpdir(), 'examples-'))
    found = new Map((await examples()).map((example) => [example.language, example]))
    expect([...found.keys()]).to.have.members(languages)
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  function fileWith(document: unknown): string {
    const file = join(folder, `${randomUUID()}.json`)
    writeFileSync(file, JSON.stringify(document, null, 2))
    return file
  }

  function publish(language: string, file: string, settings: Record<string, string>): Promise<Ended> {
    const { folder: cwd, publish, env } = found.get(language) as Example
    const [command = '', ...args] = publish(file)
    return run(command, args, { ...env, ...settings }, cwd)
  }

  describe('each example with a running stack', () => {
    let checkout: LocalCheckout
    let stack: StartedCheckout
    before(async () => {
      checkout = await localCheckout('examples-stack')
      stack = await checkout.start()
    })
    after(() => checkout?.remove())
    const settings = () => ({ KAFKA_BROKERS: stack.kafka.bootstrapBrokers.join() })

    async function isPaid(id: string): Promise<void> {
      await orderWith(orderUrl(stack), id, 'Paid')
      const payments = await paymentsOf(paymentUrl(stack), id)
      expect(payments.map(({ amount, status }) => ({ amount, status }))).to.deep.equal([
        { amount: 10, status: 'Approved' },
      ])
    }

    for (const language of languages) {
      it(`publishes an order that is paid: ${language}`, async () => {
        const event = full()
        const { code, stdout, stderr } = await publish(language, fileWith(event), settings())
        expect([code, stderr]).to.deep.equal([0, language === 'kcat' ? stderr : ''])
        expect(stdout).to.contain('published to orderevents')
        await isPaid(event.Payload.OrderId)
      })
    }

    const byCurl = (file: string) =>
      run(join(repository, 'docs/examples/curl/publish.sh'), [file], { GATEWAY: urlOf(stack, 'event-gateway') })

    it('publishes a single event, a JSON list and JSON lines, and all orders are paid: curl', async () => {
      const [one, two, three] = [full(), full(), full()]
      const lines = join(folder, 'events.ndjson')
      writeFileSync(lines, `${JSON.stringify(three)}\n`)
      for (const file of [fileWith(one), fileWith([two]), lines]) {
        const { code, stdout, stderr } = await byCurl(file)
        expect(code, stdout + stderr).to.equal(0)
      }
      for (const { Payload } of [one, two, three]) await isPaid(Payload.OrderId)
    })

    it('names the events that were not published: curl', async () => {
      const [right, wrong] = [full(), full({ Total: '10' })]
      const some = await byCurl(fileWith([wrong, right]))
      expect([some.code, some.stderr]).to.deep.equal([1, 'only some are published\n'])
      expect(some.stdout).to.contain('/Payload/Total')
      await isPaid(right.Payload.OrderId)
      const none = await byCurl(fileWith(wrong))
      expect([none.code, none.stderr]).to.deep.equal([1, 'not published\n'])
      expect(none.stdout).to.contain('/Payload/Total')
    })
  })

  describe('each example without a stack', () => {
    for (const language of languages) {
      it(`rejects an invalid event and names each fault: ${language}`, async () => {
        const file = fileWith(full({ Total: '10', CustomerName: 'Tx-77-SECRET', CustomerTaxId: '' }))
        const { code, stdout, stderr } = await publish(language, file, { KAFKA_BROKERS: '127.0.0.1:1' })
        expect(code).to.equal(1)
        expect(stderr).to.contain('/Payload/Total').and.contain('/Payload/CustomerTaxId').and.contain('not published')
        expect(stdout + stderr).not.to.contain('SECRET')
      })

      it(`reports that Kafka is unreachable: ${language}`, async () => {
        const KAFKA_BROKERS = `127.0.0.1:${await freePort()}`
        const { code, stderr } = await publish(language, fileWith(full()), { KAFKA_BROKERS })
        expect([code, /not published/.test(stderr)], stderr).to.deep.equal([1, true])
      })

      it(`names the missing setting: ${language}`, async () => {
        const { code, stderr } = await publish(language, fileWith(full()), { KAFKA_USER: 'legacy' })
        expect(code).to.equal(1)
        expect(stderr).to.match(/KAFKA_(PASSWORD|CA).* is not set/)
      })
    }
  })

  describe('each example with a Kafka that requires authentication', () => {
    let kafka: SecuredKafka
    let log: Awaited<ReturnType<typeof openLog>>
    let settings: Record<string, string>
    before(async () => {
      kafka = await startSecuredKafka('examples')
      log = await openLog(kafka.operator, ['orderevents'])
      const KAFKA_CA = join(folder, 'kafka.crt')
      writeFileSync(KAFKA_CA, kafka.certificate)
      const KAFKA_BROKERS = kafka.operator.bootstrapBrokers.join()
      settings = { KAFKA_BROKERS, KAFKA_CA, KAFKA_USER: 'publisher', KAFKA_PASSWORD: kafka.passwords.publisher ?? '' }
    })
    after(async () => {
      await log?.close()
      await kafka?.stop()
    })

    for (const language of languages) {
      it(`publishes the unchanged bytes of the file after a login with user and password: ${language}`, async () => {
        const event = full()
        const { code, stderr } = await publish(language, fileWith(event), settings)
        expect(code, stderr).to.equal(0)
        const record = await eventually(() => log.records.find(({ value }) => value.includes(event.Id)), 'the record')
        expect(record.value.toString()).to.equal(JSON.stringify(event, null, 2))
        if (language !== 'kcat') expect(record.key).to.equal(event.Payload.OrderId)
      })

      it(`reports a wrong password: ${language}`, async () => {
        const { code, stderr } = await publish(language, fileWith(full()), { ...settings, KAFKA_PASSWORD: 'guessed' })
        expect([code, /not published/.test(stderr)], stderr).to.deep.equal([1, true])
        expect(stderr).not.to.contain('guessed')
      })
    }
  })
})

function run(command: string, args: string[], settings: Record<string, string>, cwd?: string): Promise<Ended> {
  return new Promise((resolve) => {
    const env = { ...process.env, ...settings }
    execFile(command, args, { cwd, env }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr })
    })
  })
}
