import type { GroupLag } from '../../../src/api/index.ts'
import { lagText, summedLags } from '../../lib/health-words.ts'
import { Columns } from '../../parts/columns.tsx'
import { State } from '../../parts/marks.tsx'

/** How far each consumer group is behind, by topic; its partitions within. */
export function Lags({ groups }: { groups: GroupLag[] }) {
  const sums = summedLags(groups)
  return (
    <section>
      <h2>Consumer groups</h2>
      {sums.length === 0 ? (
        <p class="quiet">No group consumes anything.</p>
      ) : (
        <ul class="plain-list">
          {sums.map(({ group, topic, lag, isAtMost, partitions }) => (
            <li key={group + topic} class="card group">
              <details>
                <summary>
                  <strong>{group}</strong> of {topic}:{' '}
                  {lag === 0 ? (
                    <State kind="good">0 behind</State>
                  ) : (
                    <State kind={lag > 100 ? 'bad' : 'warn'}>{lagText({ lag, isAtMost })} behind</State>
                  )}
                </summary>
                <table>
                  <Columns of={['Partition', { number: 'Position' }, { number: 'End' }, { number: 'Behind' }]} />
                  <tbody>
                    {partitions.map(({ partition, position, end, ...behind }) => (
                      <tr key={partition}>
                        <td>{partition}</td>
                        <td class="number">{position}</td>
                        <td class="number">{end}</td>
                        <td class="number">{lagText(behind)}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </details>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
