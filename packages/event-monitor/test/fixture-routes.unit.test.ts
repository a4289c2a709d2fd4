import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FakeLog } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import { createLedger, type Ledger } from '../src/jobs/ledger.ts'
import { savedFixture } from '../src/routes/fixture.ts'
import { indexRecord, orderCreated, type TestIndex, testIndex } from './support/records.ts'

const text = '{"CustomerName": "Ada'
const headers = {
  'deadletter-app': 'payment-service',
  'deadletter-reason': 'not-json',
  'deadletter-topic': 'orderevents',
  'deadletter-partition': '0',
  'deadletter-offset': '0',
}
const position = { topic: 'orderevents', partition: 0, offset: '0' }
const services = [
  { name: 'order-service', consumes: ['orderevents', 'paymentevents'] },
  { name: 'payment-service', consumes: ['orderevents'] },
  { name: 'event-gateway', consumes: [] },
]

describe('the operation that saves a fixture', () => {
  let index: TestIndex
  let log: FakeLog
  let folder: string
  let ledger: Ledger
  beforeEach(() => {
    index = testIndex()
    log = new FakeLog()
    folder = mkdtempSync(join(tmpdir(), 'monitor-fixture-'))
    ledger = createLedger(folder)
  })
  afterEach(() => {
    index.close()
    ledger.close()
    rmSync(folder, { recursive: true })
  })

  const caller = (...scopes: string[]) => ({
    caller: { id: 'ada', scopes: new Set(scopes), tenant: { id: '', userId: '' } },
  })
  const ask = async (method: 'rejection', ...args: Parameters<TestIndex['reads']['rejection']>) =>
    index.reads[method](...args)
  const save = (who: Partial<ReturnType<typeof caller>>, where = position) =>
    savedFixture(
      {
        index: { ask },
        log: { read: (work: (reader: FakeLog) => unknown) => work(log) },
        ledger,
        services,
        now: () => new Date(0),
      } as never,
      where,
      { caller: undefined, ...who },
    )
  const refusalOf = (saving: Promise<unknown>) =>
    saving.then(
      () => expect.fail('the fixture was saved'),
      (error: object) => error,
    )
  function addText() {
    log.append({ topic: 'orderevents', value: text })
    index.add(indexRecord(text))
  }

  it('names the folder of the service that rejected the event, or of each service that consumes its topic', async () => {
    const event = orderCreated()
    index.add(indexRecord(event))
    const folders = ['order-service/test/fixtures/', 'payment-service/test/fixtures/']
    expect((await save(caller('events:read'))).folders).to.deep.equal(folders)
    index.add(indexRecord(event, { topic: 'orderevents.dead', headers }))
    expect((await save(caller('events:read'))).folders).to.deep.equal(['payment-service/test/fixtures/'])
  })

  it('requires the right to reveal values for bytes that cannot be masked', async () => {
    addText()
    expect(await refusalOf(save(caller('events:read')))).to.deep.include({ status: 403, code: 'insufficient-scope' })
    expect(ledger.audit(1)).to.deep.equal([])
  })

  it('returns the original bytes to a caller with this right, marks the file, and records the view', async () => {
    addText()
    const { content } = await save(caller('events:reveal'))
    expect(Buffer.from(content.valueBase64 ?? '', 'base64').toString()).to.equal(text)
    expect(content.description).to.equal('A record of orderevents/0/0, with its original values, which may be personal')
    expect(ledger.audit(1)).to.deep.equal([
      {
        ...{ at: '1970-01-01T00:00:00.000Z', by: 'ada', what: 'PersonalDataViewed', position },
        ...{ reason: 'saved as a fixture', as: null, edited: null },
      },
    ])
  })

  it('reads the bytes from the dead letter if the log has deleted the record', async () => {
    index.add(indexRecord(text, { topic: 'orderevents.dead', headers }))
    log.append({ topic: 'orderevents.dead', value: text, headers })
    const { content } = await save({}, { ...position, topic: 'orderevents.dead' })
    expect(Buffer.from(content.valueBase64 ?? '', 'base64').toString()).to.equal(text)
    expect(content).to.include({ topic: 'orderevents', reason: 'not-json' })
  })

  it('reports that the log has deleted the record', async () => {
    index.add(indexRecord(text))
    expect(await refusalOf(save({}))).to.include({ code: 'not-in-log' })
  })

  it('refuses records that are no events, and names the next step', async () => {
    index.add(indexRecord(orderCreated(), { topic: 'orderevents.dead' }))
    const refusal = await refusalOf(save({}, { ...position, topic: 'orderevents.dead' }))
    expect(refusal)
      .to.include({ code: 'no-event' })
      .and.to.have.property('message')
      .that.matches(/open its event/)
  })

  it('reports a missing record', async () => {
    expect(await refusalOf(save({}))).to.include({ code: 'not-kept' })
  })
})
