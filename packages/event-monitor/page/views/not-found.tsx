import { useTitle } from '../data/title.ts'
import { TruthLine } from '../parts/truth-line.tsx'
import type { View } from '../parts/view.ts'

export const NotFound: View<'not-found'> = ({ route: { path } }) => {
  useTitle('No such view')
  return (
    <article class="page">
      <TruthLine />
      <h1>There is no such view</h1>
      <p>
        <code class="whole">{path}</code> is none of this page. A record is at <code>/e/topic/partition/offset</code>,
        an event at <code>/id/…</code>, a conversation at <code>/c/…</code>.
      </p>
      <p>
        <a href="/">See what happens now</a>
      </p>
    </article>
  )
}
