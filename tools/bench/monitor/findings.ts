import { atLeast, atMost, type Findings, number } from '../report/findings.ts'
import { median, medianRatio } from '../report/statistics.ts'
import type { Beside } from './beside.ts'
import { type Live, rate } from './live.ts'

/** @param backlog the events per second that the monitor indexes from a backlog */
export function findings(backlog: number, live: Live, paid: Beside[]): Findings {
  const [alone = [], watched = []] = paid.map(({ perSecond }) => perSecond)
  const megabytes = live.memory / 1e6
  return {
    tables: [
      {
        title: 'The index',
        head: ['', ''],
        rows: [
          ['indexing a backlog, events/s', number(backlog)],
          ['live events, events/s', number(live.perSecond)],
          ['events', number(live.events)],
          ['seconds behind at the end', number(live.behindSeconds, 1)],
          [
            'ms from the broker to pixels in the browser, p50 and p95',
            `${number(live.drawn.p50)} ${number(live.drawn.p95)}`,
          ],
          ['batches that the page drew', number(live.drawn.batches)],
          [
            'ms of a search at the same time, p50 and p95',
            `${number(live.search.p50, 1)} ${number(live.search.p95, 1)}`,
          ],
          ['largest memory, MB', number(megabytes)],
          ['heap of the browser’s tab, MB', number(live.heapBytes / 1e6)],
        ],
      },
      {
        title: 'Orders paid per second, medians',
        head: ['', 'orders/s', 'monitor, µs per order', 'seconds until the index is complete'],
        rows: paid.map(({ name, perSecond, microseconds, behindSeconds }) => [
          name,
          number(median(perSecond)),
          number(microseconds),
          number(behindSeconds, 1),
        ]),
      },
    ],
    goals: [
      atLeast('indexing a backlog, events/s', backlog, 20_000),
      atLeast('live events that are indexed, events/s', live.perSecond, 0.95 * rate),
      atMost('seconds behind at the end', live.behindSeconds, 2, 1),
      atMost('ms from the broker to pixels, p95', live.drawn.p95, 250),
      atMost('ms of a search, p95', live.search.p95, 20, 1),
      atMost('largest memory, MB', megabytes, 300),
      atMost('heap of the tab, MB', live.heapBytes / 1e6, 50),
      atLeast('orders/s, with the monitor / alone', medianRatio(watched, alone), 0.9, 2),
    ],
    figures: { backlog, live, paid },
  }
}
