import type { TopicHealth } from '../../../src/api/index.ts'
import { count, rate } from '../../lib/format.ts'
import { Columns } from '../../parts/columns.tsx'
import { State } from '../../parts/marks.tsx'

/** Topics, how much stands in them, and how much comes. */
export function Topics({ topics }: { topics: TopicHealth[] }) {
  const most = topics.reduce((rate, { perSecond }) => Math.max(rate, perSecond), 1)
  return (
    <section>
      <h2>Topics</h2>
      <div class="table-box">
        <table>
          <Columns of={['Topic', { number: 'Partitions' }, { number: 'Records, at most' }, { number: 'Rate' }]} />
          <tbody>
            {topics.map((topic) => (
              <tr key={topic.topic}>
                <td>
                  <a href={`/?topic=${encodeURIComponent(topic.topic)}`}>{topic.topic}</a>{' '}
                  {topic.isDead && recordsOf(topic) > 0n && <State kind="warn">dead letters</State>}
                  <span class="bar" aria-hidden="true">
                    <span style={{ width: `${(100 * topic.perSecond) / most}%` }} />
                  </span>
                </td>
                <td class="number">{topic.partitions}</td>
                <td class="number">{count(Number(recordsOf(topic)))}</td>
                <td class="number">{rate(topic.perSecond)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

/** Of the partitions that Kafka serves. */
const recordsOf = ({ endOffset, oldestOffset }: TopicHealth) =>
  endOffset.reduce((total, end, partition) => {
    const oldest = oldestOffset[partition] ?? null
    return end === null || oldest === null ? total : total + BigInt(end) - BigInt(oldest)
  }, 0n)
