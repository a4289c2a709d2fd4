import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { attention } from '../data/attention.ts'
import { useKeys } from '../data/commands.ts'
import { go, path, search } from '../data/location.ts'
import { filterOf, searchOf } from '../lib/filters.ts'
import { count } from '../lib/format.ts'
import { destinations } from '../lib/keys.ts'
import { hrefs, placeIn } from '../lib/route.ts'
import { Account } from './account.tsx'
import { Help } from './help.tsx'
import { ThemeSwitch } from './theme-switch.tsx'

/** On every view: where one may go, what to search for. */
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
        <button
          type="button"
          class="plain"
          aria-label="Keys and words"
          title="?"
          onClick={() => (isHelping.value = true)}
        >
          ?
        </button>
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
      {count(many)} <span class="only-read">to look at</span>
    </span>
  )
}

const isHere = (href: string) => (href === '/' ? path.value === '/' : path.value.startsWith(href))

function Search() {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    // What is searched for stands in the address: there it may change without anybody typing.
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
        placeholder="Search: words, a GUID, a place   /"
        spellcheck={false}
        autocomplete="off"
        maxLength={200}
      />
    </form>
  )
}

function submit(text: string): void {
  const place = placeIn(text)
  if (place) {
    go(hrefs.event(place))
    return
  }
  const { q: _, ...filter } = path.value === '/' ? filterOf(search.value) : {}
  go(`/${searchOf(text.trim() ? { ...filter, q: text.trim() } : filter)}`)
}
