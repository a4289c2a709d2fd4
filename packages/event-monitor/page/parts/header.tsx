import { computed, signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type DeadLetterGroups, type HealthView, type MissingReactions, paths } from '../../src/api/index.ts'
import { credential, get, isSigningIn, me, refusal, signOut } from '../data/api.ts'
import { useKeys } from '../data/commands.ts'
import { go, path, search } from '../data/location.ts'
import { jobs } from '../data/stream.ts'
import { filterOf, searchOf } from '../lib/filters.ts'
import { count } from '../lib/format.ts'
import { destinations } from '../lib/keys.ts'
import { hrefs, positionIn } from '../lib/route.ts'
import { troubles } from '../lib/words.ts'
import { Button, Dialog } from './controls.tsx'

export function Header() {
  const isHelping = useSignal(false)
  useKeys({
    help: () => {
      isHelping.value = true
      return true
    },
  })
  return (
    <header class="top">
      <a class="home" href="/" aria-label="Event monitor: live">
        <span class="logo" aria-hidden="true">
          ⇄
        </span>
        <span class="name">Event monitor</span>
      </a>
      <nav aria-label="Views">
        {Object.entries(destinations).map(([key, { href, title }]) => (
          <a key={key} href={href} aria-current={isHere(href) ? 'page' : undefined} title={`g ${key}`}>
            {title}
            <Badge href={href} />
          </a>
        ))}
      </nav>
      <Search />
      <span class="tools">
        <Account />
        <ThemeSwitch />
        <Button class="plain" aria-label="Shortcuts and search" title="?" onClick={() => (isHelping.value = true)}>
          ?
        </Button>
      </span>
      {isHelping.value && <Help close={() => (isHelping.value = false)} />}
    </header>
  )
}

function Badge({ href }: { href: string }) {
  const many = attention.value[href] ?? 0
  if (many === 0) return null
  return (
    <span class="badge">
      {count(many)} <span class="only-read">{many === 1 ? 'problem' : 'problems'}</span>
    </span>
  )
}

const isHere = (href: string) => path.value === href || (href !== '/' && path.value.startsWith(`${href}/`))

function Search() {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    // Shows the search words of the page's address, because links and buttons can change them, too.
    if (field.current && document.activeElement !== field.current) field.current.value = filterOf(search.value).q ?? ''
  }, [path.value, search.value])
  useKeys({
    search: () => {
      field.current?.focus()
      field.current?.select()
      return true
    },
  })
  return (
    <form
      class="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        submit(field.current?.value ?? '')
        field.current?.blur()
      }}
    >
      <input
        ref={field}
        type="search"
        aria-label="Search events"
        placeholder="Search: words, a GUID, a key, a position   /"
        spellcheck={false}
        autocomplete="off"
        maxLength={200}
      />
    </form>
  )
}

function submit(text: string): void {
  const position = positionIn(text)
  if (position) {
    go(hrefs.event(position))
    return
  }
  const { q: _, ...filter } = path.value === '/' ? filterOf(search.value) : {}
  go(`/${searchOf(text.trim() ? { ...filter, q: text.trim() } : filter)}`)
}

function Account() {
  if (refusal.value) {
    return <Button onClick={() => (isSigningIn.value = true)}>Sign in</Button>
  }
  if (credential() === null) return null
  return (
    <Button title={`Signed in. Scopes: ${me.value?.scopes.join(' ') ?? 'none'}`} onClick={signOut}>
      Sign out <span class="quiet">{me.value?.recordedAs}</span>
    </Button>
  )
}

type Theme = 'light' | 'dark' | ''
const following: Record<Theme, Theme> = { '': 'light', light: 'dark', dark: '' }
const words: Record<Theme, [string, string]> = {
  '': ['◐', 'Colours: system'],
  light: ['☼', 'Colours: light'],
  dark: ['☾', 'Colours: dark'],
}

function ThemeSwitch() {
  const theme = useSignal((document.documentElement.dataset.theme ?? '') as Theme)
  const choose = () => {
    const next = following[theme.value]
    theme.value = next
    if (next) document.documentElement.dataset.theme = next
    else delete document.documentElement.dataset.theme
    try {
      localStorage.setItem('theme', next)
    } catch {
      // Without storage, the choice lasts until the page is closed.
    }
    dispatchEvent(new Event('themechange'))
  }
  const [sign, label] = words[theme.value]
  return (
    <Button class="plain" aria-label={label} title={label} onClick={choose}>
      {sign}
    </Button>
  )
}

const keys: [string, string][] = [
  ['/', 'search'],
  ['j  k', 'next or previous row'],
  ['Enter', 'open the row'],
  ['c', 'open the row’s conversation'],
  ['Space', 'pause or continue'],
  ['Esc', 'back'],
  ['?', 'show this help'],
]

function Help({ close }: { close: () => void }) {
  return (
    <Dialog title="Shortcuts and search" close={close}>
      <dl class="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
        {Object.entries(destinations).map(([key, { title }]) => (
          <div key={key}>
            <dt>
              <kbd>g</kbd> <kbd>{key}</kbd>
            </dt>
            <dd>{title}</dd>
          </div>
        ))}
      </dl>
      <p>
        The search finds an Id, a CorrelationId, a GUID of the Payload, a whole record key, or a position such as{' '}
        <code>a-topic/2/1234</code>. All other words must match the beginning of a word in the name, publisher, topic,
        validity or problem. The search cannot find personal values.
      </p>
      <p>
        The page shows <code>***</code> instead of a personal value. To show others the same events, send them the
        address of the page. The address contains the filters and absolute times.
      </p>
      <p>
        <a href="/licenses.txt">Licenses of the software in this page</a>
      </p>
    </Dialog>
  )
}

/** Maps the path of a view to its number of problems. */
const attention = signal<Record<string, number>>({})

const everyMs = 15_000

/** The time after which the view has loaded its own data, and after a job the index has the note of its last replay. */
const pauseMs = 1_000

/** Counts the problems of the views every 15 seconds while the tab is visible, and when a replay job ends. */
export function payAttention(): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const count = async () => {
    timer = undefined
    await countProblems()
    timer ??= setTimeout(count, everyMs)
  }
  const ended = computed(() => [...jobs.value.values()].filter(({ state }) => state !== 'running').length)
  ended.subscribe(() => {
    clearTimeout(timer)
    timer = setTimeout(count, pauseMs)
  })
}

let counts = 0

async function countProblems(): Promise<void> {
  if (!document.hidden && !refusal.value) {
    counts += 1
    const own = counts
    const [dead, missing, health] = await Promise.allSettled([
      get<DeadLetterGroups>(paths.deadLetters),
      get<MissingReactions>(`${paths.missing}?limit=1`),
      get<HealthView>(paths.health),
    ])
    // A later count may have ended earlier.
    if (own !== counts) return
    attention.value = {
      '/dead': dead.status === 'fulfilled' ? dead.value.open : 0,
      '/missing': missing.status === 'fulfilled' ? missing.value.total : 0,
      '/health': health.status === 'fulfilled' ? troubles(health.value).length : 0,
    }
  }
}
