import { expect } from 'chai'
import { currentAttempt, readDeadLetters } from '../../../src/operations/dead-letters/entries.ts'
import { readEvent } from '../../../src/operations/dead-letters/records.ts'
import { entryLines, entryTable, groupLines } from '../../../src/operations/dead-letters/report.ts'
import { rebuildTopic } from '../../../src/operations/rebuild.ts'
import { deadLetterHeaders } from '../../../src/stream/log/record.ts'
import { FakeLog } from '../../../src/testing/fake-log.ts'
import { openTrust } from '../../support/open-trust.ts'
import { fail, failUnread, note } from './records.ts'

/** Kafka stores any signed integer of 64 bits as the time of a record. */
const timestamps = [-9.2e18, -8.64e15 - 1, -62_135_596_800_000, -1, 0, 8.64e15 + 1, 9.2e18]

/** Texts that a program could write into a header with a number. */
const numbers = ['', '-1', '-0', '0', '1e9', '0x7', ' 7', 'NaN', 'Infinity', '9'.repeat(400), '9223372036854775807']

describe('dead letters with hostile numbers', () => {
  let log: FakeLog
  beforeEach(() => {
    log = new FakeLog()
  })

  const rebuild = () =>
    rebuildTopic(
      'orderevents',
      { OrderCreated: async () => true },
      {
        ...{ app: 'order-service', trust: openTrust, refusals: new Set<string>(), log, range: {} },
        ...{ onProgress() {}, onWait() {} },
      },
    )

  /** Lists, shows and reads all dead letters, as `make dead-letters` does. Returns the printed lines. */
  async function report(): Promise<string> {
    const deadLetters = await readDeadLetters(log)
    const lines = [...groupLines(deadLetters), ...entryTable(deadLetters.entries)]
    for (const entry of deadLetters.entries)
      lines.push(...entryLines(entry, await readEvent(log, currentAttempt(entry)), false))
    return lines.join('\n')
  }

  for (const timestamp of timestamps) {
    it(`commands list and show them, and a rebuild skips them, if their timestamp is ${timestamp}`, async () => {
      for (let offset = 0; offset < 4; offset += 1) log.append({ topic: 'orderevents', value: '{', timestamp: offset })
      fail(log, 'order-service', 0)
      failUnread(log, 'order-service', 1)
      note(log, 'orderevents/0/0', 'orderevents/0/2')
      for (const record of log.records) if (record.topic.endsWith('.dead')) record.timestamp = timestamp
      expect(await report())
        .to.contain('invalid-payload/order-service')
        .and.to.contain('internal-error/order-service')
      expect((await rebuild()).read).to.equal(4)
    })

    it(`commands and rebuilds find their record if its timestamp is ${timestamp}`, async () => {
      // A sidecar delivers every negative timestamp as this one, the zero of Go's time (sarama 1.48, Timestamp.decode).
      const delivered = timestamp < 0 ? -62_135_596_800_000 : timestamp
      const value = Buffer.from('[]')
      log.append({ topic: 'orderevents', value, key: 'k', timestamp, headers: { 'a-header': 'of the record' } })
      fail(log, 'order-service', 0, 'not-an-envelope', { arrivedAt: delivered, value })
      const { entries } = await readDeadLetters(log)
      const [entry] = entries
      if (!entry) throw new Error('there is no entry')
      expect((await readEvent(log, currentAttempt(entry)))?.headers.join()).to.equal('a-header,of the record')
      expect((await rebuild()).aside).to.deep.equal({ 'not-an-envelope': 1 })
    })
  }

  for (const name of ['partition', 'offset', 'arrived', 'replayed', 'time'] as const) {
    it(`commands and rebuilds accept any text in the header ${deadLetterHeaders[name]}`, async () => {
      for (const text of numbers) {
        log = new FakeLog()
        log.append({ topic: 'orderevents', value: '{', timestamp: 0 })
        fail(log, 'order-service', 0)
        for (const { headers } of log.records) {
          const header = headers.find(([key]) => key.toString() === deadLetterHeaders[name])
          if (header) header[1] = Buffer.from(text)
          else headers.push([Buffer.from(deadLetterHeaders[name]), Buffer.from(text)])
        }
        expect(await report(), text).to.be.a('string')
        expect((await rebuild()).read, text).to.equal(1)
      }
    })
  }
})
