/** A column by its name; of numbers, which stand to the right; or one whose name is read out and not seen. */
export type Column = string | { number: string } | { unseen: string }

/** The head of a table. */
export function Columns({ of }: { of: readonly Column[] }) {
  return (
    <thead>
      <tr>{of.map(headOf)}</tr>
    </thead>
  )
}

function headOf(column: Column) {
  if (typeof column === 'string') return <th scope="col">{column}</th>
  if ('unseen' in column) {
    return (
      <th scope="col">
        <span class="only-read">{column.unseen}</span>
      </th>
    )
  }
  return (
    <th scope="col" class="number">
      {column.number}
    </th>
  )
}
