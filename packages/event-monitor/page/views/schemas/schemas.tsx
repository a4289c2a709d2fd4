import { paths, type Schemas } from '../../../src/api/index.ts'
import { useLoad } from '../../data/load.ts'
import { useTitle } from '../../data/title.ts'
import { counted } from '../../lib/format.ts'
import { Answer, Empty } from '../../parts/answers.tsx'
import { TruthLine } from '../../parts/truth-line.tsx'
import type { View } from '../../parts/view.ts'
import { SchemaCard } from './schema-card.tsx'
import { Validator } from './validator.tsx'

/** What events there are, who sends which version, and whether a text is one. */
export const SchemasView: View<'schemas'> = () => {
  useTitle('Schemas')
  const { state, again } = useLoad<Schemas>(paths.schemas, 10_000)
  const { data } = state.value
  return (
    <article class="page">
      <TruthLine complete={data?.complete} shown={data ? counted(data.items.length, 'version') : undefined} />
      <h1>Schemas</h1>
      <Validator />
      <h2>Versions</h2>
      <Answer of={state.value} again={again}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="There is no schema.">
              <p>
                Each stands in <code>envelope-schema/schemas/</code>.
              </p>
            </Empty>
          ) : (
            <div class="schema-list">
              {items.map((use) => (
                <SchemaCard
                  key={use.type}
                  use={use}
                  newest={items.find(({ name, isNewest }) => isNewest && name === use.name)}
                />
              ))}
            </div>
          )
        }
      </Answer>
    </article>
  )
}
