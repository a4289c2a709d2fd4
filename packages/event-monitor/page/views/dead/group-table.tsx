import type { DeadLetterGroup } from '../../../src/api/index.ts'
import { go } from '../../data/location.ts'
import { count } from '../../lib/format.ts'
import { hrefs } from '../../lib/route.ts'
import { useActiveRow } from '../../parts/active-row.ts'
import { Columns } from '../../parts/columns.tsx'
import { State, Time } from '../../parts/marks.tsx'

/** What failed alike, the largest open group first. */
export function GroupTable({ groups, chosen }: { groups: DeadLetterGroup[]; chosen: string | null }) {
  const active = useActiveRow(groups.length, (index) => go(hrefs.group(groups[index]?.id ?? '')))
  return (
    <div class="table-box">
      <table class="stacked">
        <Columns of={['Why', 'Event', 'Publisher', 'Rejected by', { number: 'Open' }, { number: 'All' }, 'Newest']} />
        <tbody>
          {groups.map((group, index) => (
            <tr
              key={group.id}
              class={active === index ? 'is-active' : ''}
              aria-current={group.id === chosen ? 'true' : undefined}
            >
              <td data-name="Why">
                <a href={hrefs.group(group.id)}>
                  <strong>{group.reason}</strong>
                </a>{' '}
                {group.pointer && <code>{group.pointer}</code>} <span class="whole">{group.message}</span>
              </td>
              <td data-name="Event">{group.name ? `${group.name}@${group.version ?? '?'}` : '(no name)'}</td>
              <td data-name="Publisher" class="whole">
                {group.publisher ?? '(unknown)'}
              </td>
              <td data-name="Rejected by">{group.services.join(', ')}</td>
              <td data-name="Open" class="number">
                {group.open > 0 ? <strong>{count(group.open)}</strong> : <State kind="good">0</State>}
              </td>
              <td data-name="All" class="number">
                {count(group.entries)}
              </td>
              <td data-name="Newest">
                <Time iso={group.newest} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
