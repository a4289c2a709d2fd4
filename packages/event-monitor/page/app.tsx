import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { isSigningIn } from './data/access.ts'
import { announced } from './data/announce.ts'
import { useKeys } from './data/commands.ts'
import { back, path } from './data/location.ts'
import { connect } from './data/stream.ts'
import { type Route, routeOf } from './lib/route.ts'
import { ProblemBox } from './parts/answers.tsx'
import { Header } from './parts/header.tsx'
import { SignIn } from './parts/sign-in.tsx'
import type { View } from './parts/view.ts'

const views: { [Of in Route['view']]: () => Promise<View<Of>> } = {
  live: async () => (await import('./views/live/live.tsx')).Live,
  conversation: async () => (await import('./views/conversation/conversation.tsx')).ConversationView,
  event: async () => (await import('./views/event/event.tsx')).EventView,
  id: async () => (await import('./views/event/id.tsx')).IdView,
  dead: async () => (await import('./views/dead/dead.tsx')).DeadLetters,
  'dead-entry': async () => (await import('./views/dead/entry.tsx')).EntryView,
  missing: async () => (await import('./views/missing.tsx')).Missing,
  publishers: async () => (await import('./views/publishers.tsx')).PublishersView,
  schemas: async () => (await import('./views/schemas/schemas.tsx')).SchemasView,
  health: async () => (await import('./views/health/health.tsx')).Health,
  audit: async () => (await import('./views/audit.tsx')).AuditView,
  'not-found': async () => (await import('./views/not-found.tsx')).NotFound,
}

const loaded = new Map<Route['view'], ComponentType<{ route: Route }>>()

/** The page: a header, and the view that the path names. */
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
  // What a view asks for it has asked for by now.
  const isDrawn = View !== undefined || failed !== null
  useEffect(() => {
    if (isDrawn) connect()
  }, [isDrawn])
  return (
    <>
      <a class="skip" href="#main">
        To the content
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

/** After a new version its old files are gone. */
const asProblem = (detail: string) => ({ type: 'about:blank', title: 'This view cannot be loaded', status: 0, detail })
