import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { announced, useTitle } from './data/announce.ts'
import { isSigningIn } from './data/api.ts'
import { useKeys } from './data/commands.ts'
import { back, path } from './data/location.ts'
import { connect } from './data/stream.ts'
import { type Route, routeOf } from './lib/route.ts'
import { ProblemBox } from './parts/answers.tsx'
import { Header } from './parts/header.tsx'
import { SignIn } from './parts/sign-in.tsx'
import { CompletenessLine, type View } from './parts/view.tsx'

const views: { [Of in Route['view']]: () => Promise<View<Of>> } = {
  live: async () => (await import('./views/live/live.tsx')).Live,
  conversation: async () => (await import('./views/conversation/conversation.tsx')).ConversationView,
  event: async () => (await import('./views/event/event.tsx')).EventView,
  id: async () => (await import('./views/event/event.tsx')).IdView,
  dead: async () => (await import('./views/dead/dead-letters.tsx')).DeadLetters,
  'dead-entry': async () => (await import('./views/dead/dead-letter.tsx')).EntryView,
  missing: async () => (await import('./views/missing.tsx')).Missing,
  deadlines: async () => (await import('./views/deadlines.tsx')).DeadlinesView,
  publishers: async () => (await import('./views/publishers.tsx')).PublishersView,
  schemas: async () => (await import('./views/schemas.tsx')).SchemasView,
  health: async () => (await import('./views/health.tsx')).Health,
  audit: async () => (await import('./views/audit.tsx')).AuditView,
  'not-found': async () => NotFound,
}

const loaded = new Map<Route['view'], ComponentType<{ route: Route }>>()

export function App() {
  const route = routeOf(path.value)
  const [, drawn] = useState(0)
  const [failed, setFailed] = useState<string | null>(null)
  const { view } = route
  const View = loaded.get(view)
  useKeys({
    back: () => {
      if (view !== 'live') back()
      return true
    },
  })
  useEffect(() => {
    if (loaded.has(view)) return
    setFailed(null)
    views[view]().then(
      (component) => {
        loaded.set(view, component as ComponentType<{ route: Route }>)
        drawn((count) => count + 1)
      },
      (error: unknown) => setFailed(String(error)),
    )
  }, [view])
  // Opens the stream after the view has sent its own requests.
  const isDrawn = View !== undefined || failed !== null
  useEffect(() => {
    if (isDrawn) connect()
  }, [isDrawn])
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Header />
      <main id="main" tabIndex={-1}>
        {View && <View route={route} key={view} />}
        {!View && failed && <ProblemBox problem={asProblem(failed)} again={() => location.reload()} />}
      </main>
      {isSigningIn.value && <SignIn />}
      <p class="only-read" aria-live="polite">
        {announced.value}
      </p>
    </>
  )
}

/** Returns the problem to show if the file of a view is missing, for example after an update of the monitor. */
const asProblem = (detail: string) => ({ type: 'about:blank', title: 'This view cannot be loaded', status: 0, detail })

export const NotFound: View<'not-found'> = ({ route: { path } }) => {
  useTitle('Page not found')
  return (
    <article class="page">
      <CompletenessLine />
      <h1>Page not found</h1>
      <p>
        There is no view at <code class="whole">{path}</code>. The address of a record is{' '}
        <code>/e/topic/partition/offset</code>, of an event <code>/id/…</code>, and of a conversation <code>/c/…</code>.
      </p>
      <p>
        <a href="/">Show live events</a>
      </p>
    </article>
  )
}
