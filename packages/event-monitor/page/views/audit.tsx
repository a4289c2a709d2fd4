import { type Audit, paths } from '../../src/api/index.ts'
import { counted, moment } from '../lib/format.ts'
import { Empty } from '../parts/answers.tsx'
import { ConversationLink, PositionLink, Time } from '../parts/marks.tsx'
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
    <p>This page lists who viewed personal values, replayed events, or let a deadline pass.</p>
  </Empty>
)

const columns = ['When', 'Who', 'What', 'Record', 'Reason or result']

const words: Record<Audit['items'][number]['what'], string> = {
  PersonalDataViewed: 'viewed personal values',
  DeadLetterReplayed: 'replayed',
  DeadlineFired: 'asked to fire a deadline',
}

const cells = ({ at, by, what, edited, position, reason, as, deadline }: Audit['items'][number]) => [
  <Time iso={at} />,
  by,
  what === 'DeadLetterReplayed' && edited ? 'edited and replayed' : words[what],
  <>
    {position && <PositionLink position={position} />}
    {deadline && <ConversationLink id={deadline.id} />}
  </>,
  <>
    {reason}
    {as && 'as '}
    {as && <PositionLink position={as} />}
    {deadline && `${deadline.deadline} of ${deadline.entity}, due at ${moment(deadline.due)}`}
  </>,
]
