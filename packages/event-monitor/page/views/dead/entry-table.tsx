import type { DeadLetterEntry } from '../../../src/api/index.ts'
import { go } from '../../data/location.ts'
import { hrefs } from '../../lib/route.ts'
import { useActiveRow } from '../../parts/active-row.ts'
import { Columns } from '../../parts/columns.tsx'
import { PlaceLink, RejectedBy, Time } from '../../parts/marks.tsx'

interface Props {
  items: DeadLetterEntry[]
  chosen: ReadonlySet<string>
  /** Null where none can be. */
  choose: ((id: string, isChosen: boolean) => void) | null
}

/** Dead letters that failed alike. */
export function EntryTable({ items, chosen, choose }: Props) {
  const active = useActiveRow(items.length, (index) => go(hrefs.entry(items[index]?.id ?? '')))
  return (
    <div class="table-box">
      <table class="stacked">
        <Columns
          of={[
            ...(choose ? [{ unseen: 'Choose' }] : []),
            'Entry',
            'Event stands at',
            'Rejected by',
            'Problem',
            'Failed',
            'State',
          ]}
        />
        <tbody>
          {items.map((entry, index) => (
            <tr key={entry.id} class={active === index ? 'is-active' : ''}>
              {choose && (
                <td>
                  <input
                    type="checkbox"
                    aria-label={`Choose ${entry.id}`}
                    checked={chosen.has(entry.id)}
                    onChange={({ currentTarget }) => choose(entry.id, currentTarget.checked)}
                  />
                </td>
              )}
              <td data-name="Entry">
                <a class="id" href={hrefs.entry(entry.id)} title={entry.id}>
                  {entry.id.slice(0, 13)}
                </a>
              </td>
              <td data-name="Event stands at">
                <PlaceLink place={entry.origin} />
              </td>
              <td data-name="Rejected by">
                <RejectedBy services={entry.services} />
              </td>
              <td data-name="Problem" class="whole">
                {entry.problem ? (
                  <>
                    <code>{entry.problem.pointer || '(document)'}</code> {entry.problem.message}
                  </>
                ) : (
                  entry.reason
                )}
              </td>
              <td data-name="Failed">
                <Time iso={entry.attempts.at(-1)?.at ?? ''} />
                {entry.attempts.length > 1 && `, ${entry.attempts.length} times`}
              </td>
              <td data-name="State">{entry.state}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
