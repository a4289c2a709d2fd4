import { type LogReader, newestAppendTime, type StreamSettings } from '@orderflow/kafka-log'
import { parsedJson } from '../../json.ts'
import { SidecarError } from '../../sidecar/sidecar.ts'
import type { PublishRecord } from '../publishing/publish.ts'
import { clockTopic } from '../publishing/topic-settings.ts'
import { shareAdmin } from './shared-admin.ts'

/**
 * The clock of the log, for deadlines. The clocks of two services may differ by minutes, so none of them decides whether a deadline has passed. The log's
 * time is the time at which the broker appended a record, plus the time that has passed in this process. The record was appended at an unknown moment
 * between the write and the answer to the read, so the broker's time lies between two bounds. A time that is stored is never before it, and a deadline
 * passes only after it. So no deadline is early, although two processes have different bounds.
 */
export interface LogClock {
  /**
   * Writes and reads a record. The service calls it regularly.
   * @param openUntil the time before which all open deadlines of this process pass, in milliseconds since 1970. Commands read it
   */
  tick(openUntil: number | undefined): Promise<void>
  /** Returns a time that only grows, and is never before the broker's time. @throws {SidecarError} before the first record */
  now(): Date
  /** Returns a time that is never after the broker's time, in milliseconds since 1970; undefined if the last record is too old. */
  fresh(): number | undefined
}

/** The age above which a record no longer shows the time, because the broker may be unreachable. */
const maxAgeMs = 60_000

const timeFix = `Fix: ./orderflow topic-setting ${clockTopic} message.timestamp.type=LogAppendTime`

/**
 * @param read writes a record with this time of the last deadline, and returns the time of the newest record, both in milliseconds since 1970
 * @param elapsed returns the time since any fixed moment in milliseconds. It must ignore changes of the system's clock
 */
export function createLogClock(
  read: (openUntil: number | undefined) => Promise<number | undefined>,
  elapsed = () => performance.now(),
): LogClock {
  /** The bounds of the broker's time at the beginning of `elapsed`, from the records of the last minute. In this time, both clocks run equally fast. */
  let bounds: { least: number; most: number; readAt: number }[] = []
  let latest = Number.NEGATIVE_INFINITY
  const isRecent = ({ readAt }: { readAt: number }) => elapsed() - readAt <= maxAgeMs
  const leastOf = (some: typeof bounds) =>
    some.reduce((most, { least }) => Math.max(most, least), Number.NEGATIVE_INFINITY)
  return {
    async tick(openUntil) {
      const begunAt = elapsed()
      const newest = await read(openUntil)
      if (newest === undefined)
        throw new SidecarError(
          'read the time',
          `the topic ${clockTopic} has no record with the broker’s time. ${timeFix}`,
        )
      const readAt = elapsed()
      bounds = [...bounds.filter(isRecent), { least: newest - readAt, most: newest - begunAt, readAt }]
    },
    now() {
      if (bounds.length === 0)
        throw new SidecarError('read the time', `no record of the topic ${clockTopic} was read yet`)
      const most = bounds.reduce((least, one) => Math.min(least, one.most), Number.POSITIVE_INFINITY)
      // If the broker's clock was set ahead, the last record has the right time.
      latest = Math.max(latest, Math.ceil(Math.max(most, leastOf(bounds)) + elapsed()))
      return new Date(latest)
    },
    fresh() {
      const recent = bounds.filter(isRecent)
      return recent.length > 0 ? Math.floor(leastOf(recent) + elapsed()) : undefined
    },
  }
}

/** Returns a function that writes a record to the clock's topic, and then reads the time of the newest one. */
export function createClockReader(settings: StreamSettings, app: string, publish: PublishRecord) {
  const use = shareAdmin(settings, 'orderflow-clock', 3_000)
  return async (openUntil: number | undefined): Promise<number | undefined> => {
    await publish({ topic: clockTopic, key: app, value: Buffer.from(JSON.stringify({ openUntil })), headers: {} })
    return await use((admin) => newestAppendTime(admin, clockTopic))
  }
}

/** Returns the last open deadline of each service, in milliseconds since 1970, from the clock's records of the last minutes. */
export async function lastDeadlines(log: Pick<LogReader, 'spans' | 'read'>, now: Date): Promise<Map<string, number>> {
  const spans = await log.spans(clockTopic, { from: new Date(now.getTime() - 2 * maxAgeMs) })
  const last = new Map<string, number>()
  for await (const records of log.read(clockTopic, spans)) {
    for (const { key, value } of records) {
      const { openUntil } = Object(parsedJson(value.toString())) as { openUntil?: unknown }
      const app = key?.toString() ?? ''
      if (typeof openUntil === 'number') last.set(app, Math.max(openUntil, last.get(app) ?? 0))
    }
  }
  return last
}
