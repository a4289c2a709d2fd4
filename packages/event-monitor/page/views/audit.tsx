import { type Audit, paths } from '../../src/api/index.ts'
import { counted } from '../lib/format.ts'
import { Empty } from '../parts/answers.tsx'
import { PositionLink, Time } from '../parts/marks.tsx'
import { Table } from '../parts/tables.tsx'
import { AnswerView, type View } from '../parts/view.tsx'

export const AuditView: View<'audit'> = () => (
  <AnswerView<Audit>
    title="Audit"
    path={paths.audit}
    everyMs={5000}
    shown={({ items }) => `newest ${counted(items.length, 'entry', 'entries')}`}
  >
    {({ items }) => (
      <Table
        columns={columns}
        rows={items}
        cells={cells}
        keyOf={({ at }, index) => `${at}${index}`}
        empty={<NoEntries />}
      />
    )}
  </AnswerView>
)

const NoEntries = () => (
  <Empty title="The audit log is empty.">
    <p>This page lists who viewed personal values and who replayed events.</p>
  </Empty>
)

const columns = ['When', 'Who', 'What', 'Record', 'Reason or result']

const cells = ({ at, by, what, edited, position, reason, as }: Audit['items'][number]) => [
  <Time iso={at} />,
  by,
  what === 'PersonalDataViewed' ? 'viewed personal values' : edited ? 'edited and replayed' : 'replayed',
  <PositionLink position={position} />,
  <>
    {reason}
    {as && 'as '}
    {as && <PositionLink position={as} />}
  </>,
]
