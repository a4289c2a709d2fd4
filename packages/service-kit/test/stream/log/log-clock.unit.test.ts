import { expect } from 'chai'
import { SidecarError } from '../../../src/sidecar/sidecar.ts'
import { createLogClock, type LogClock, lastDeadlines } from '../../../src/stream/log/log-clock.ts'
import { clockTopic } from '../../../src/stream/publishing/topic-settings.ts'
import { FakeLog } from '../../../src/testing/fake-log.ts'

describe('the clock of the log', () => {
  /** The time of the broker, and the time of this process since its start, both in milliseconds. */
  let broker = 0
  let elapsed = 0
  /** The times until the record is appended, and then until the answer. */
  let [writeMs, delayMs] = [0, 0]
  const pass = (ms: number) => {
    broker += ms
    elapsed += ms
  }
  const begin = Date.parse('2026-01-01T00:00:00Z')
  const open = () =>
    createLogClock(
      async () => {
        pass(writeMs)
        const time = broker
        pass(delayMs)
        return time
      },
      () => elapsed,
    )
  beforeEach(() => {
    ;[broker, elapsed, writeMs, delayMs] = [begin, 5_000, 0, 0]
  })

  it('uses a topic that readers of all topics leave out, because of its name', () => {
    expect(clockTopic).to.match(/^__/)
  })

  it('throws before its first record', () => {
    const clock = open()
    expect(clock.fresh()).to.equal(undefined)
    expect(() => clock.now())
      .to.throw(SidecarError, 'no record of the topic __clock was read yet')
      .with.property('failure', 'unavailable')
  })

  /** Returns the distances of both times from the broker's time. */
  const distances = (clock: LogClock) => [clock.now().getTime() - broker, broker - (clock.fresh() ?? Number.NaN)]

  it('continues the time of the record: the broker is never ahead of stored times, or behind the times at which deadlines pass', async () => {
    const clock = open()
    ;[writeMs, delayMs] = [300, 700]
    await clock.tick(undefined)
    expect(distances(clock)).to.deep.equal([300, 700])
    ;[writeMs, delayMs] = [5, 20]
    pass(10_000)
    await clock.tick(undefined)
    expect(distances(clock)).to.deep.equal([5, 20])
    ;[writeMs, delayMs] = [1_000, 3_000]
    await clock.tick(undefined)
    expect(distances(clock)).to.deep.equal([5, 20])
  })

  it('gives two processes times between which no deadline is early, although the first reading of each was slow', async () => {
    const [one, other] = [open(), open()]
    ;[writeMs, delayMs] = [0, 600]
    await one.tick(undefined)
    ;[writeMs, delayMs] = [600, 0]
    await other.tick(undefined)
    expect([distances(one), distances(other)]).to.deep.equal([
      [0, 600],
      [600, 0],
    ])
  })

  it('follows the broker’s clock within a minute if it is set or runs faster, and stored times never go back', async () => {
    const clock = open()
    await clock.tick(undefined)
    broker += 60_000
    await clock.tick(undefined)
    expect(distances(clock)).to.deep.equal([0, 0])
    broker -= 60_000
    await clock.tick(undefined)
    expect(distances(clock)).to.deep.equal([60_000, -60_000])
    for (let minute = 1; minute <= 7; minute += 1) {
      pass(10_000)
      await clock.tick(undefined)
    }
    expect(distances(clock)).to.deep.equal([0, 0])
  })

  it('returns no fresh time if its last record is older than a minute', async () => {
    const clock = open()
    await clock.tick(undefined)
    pass(60_000)
    expect(clock.fresh()).to.equal(begin + 60_000)
    pass(1)
    expect(clock.fresh()).to.equal(undefined)
    expect(clock.now().getTime()).to.equal(begin + 60_001)
  })

  it('fails if publishers set the times of the records', async () => {
    const clock = createLogClock(async () => undefined)
    const error = await clock.tick(undefined).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(SidecarError)
    expect((error as Error).message).to.equal(
      'read the time: the topic __clock has no record with the broker’s time. Fix: ./orderflow topic-setting __clock message.timestamp.type=LogAppendTime',
    )
  })

  it('shows the last open deadline of each service, from records of the last minutes', async () => {
    const log = new FakeLog()
    const append = (key: string, value: string, ageMs: number) =>
      log.append({ topic: clockTopic, key, value, timestamp: begin - ageMs })
    append('order-service', JSON.stringify({ openUntil: 900 }), 600_000)
    append('order-service', JSON.stringify({ openUntil: 500 }), 20_000)
    append('order-service', JSON.stringify({ openUntil: 300 }), 10_000)
    append('order-service', '{}', 5_000)
    append('other-service', 'not JSON', 5_000)
    append('third-service', JSON.stringify({ openUntil: 7 }), 1_000)
    expect([...(await lastDeadlines(log, new Date(begin)))]).to.deep.equal([
      ['order-service', 500],
      ['third-service', 7],
    ])
  })
})
