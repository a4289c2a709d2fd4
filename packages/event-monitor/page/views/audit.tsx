import { type Audit, paths } from '../../src/api/index.ts'
import { useTitle } from '../data/announce.ts'
import { useLoad } from '../data/load.ts'
import { counted } from '../lib/format.ts'
import { Answer, Empty } from '../parts/answers.tsx'
import { PositionLink, Time } from '../parts/marks.tsx'
import { Columns } from '../parts/tables.tsx'
import { CompletenessLine, type View } from '../parts/view.tsx'

export const AuditView: View<'audit'> = () => {
  useTitle('Audit')
  const { state, again } = useLoad<Audit>(paths.audit, 5000)
  const { data } = state.value
  return (
    <article class="page">
      <CompletenessLine
        complete={data?.complete}
        shown={data ? `newest ${counted(data.items.length, 'entry', 'entries')}` : undefined}
      />
      <h1>Audit</h1>
      <Answer of={state.value} again={again}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="The audit log is empty.">
              <p>This page lists who viewed personal values and who replayed events.</p>
            </Empty>
          ) : (
            <div class="table-box">
              <table class="stacked">
                <Columns of={['When', 'Who', 'What', 'Record', 'Reason or result']} />
                <tbody>
                  {items.map((item, index) => (
                    <tr key={`${item.at}${index}`}>
                      <td data-name="When">
                        <Time iso={item.at} />
                      </td>
                      <td data-name="Who">{item.by}</td>
                      <td data-name="What">
                        {item.what === 'PersonalDataViewed'
                          ? 'viewed personal values'
                          : item.edited
                            ? 'edited and replayed'
                            : 'replayed'}
                      </td>
                      <td data-name="Record">
                        <PositionLink position={item.position} />
                      </td>
                      <td data-name="Reason or result">
                        {item.reason}
                        {item.as && (
                          <>
                            as <PositionLink position={item.as} />
                          </>
                        )}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Answer>
    </article>
  )
}
