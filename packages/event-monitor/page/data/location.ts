import { batch, signal } from '@preact/signals'
import { options } from 'preact'

const ownPath = (pathname: string) => pathname.slice(root.length) || '/'

/** What the address bar says, below the page's root. */
export const path = signal(ownPath(location.pathname))
export const search = signal(location.search)

function read(): void {
  batch(() => {
    path.value = ownPath(location.pathname)
    search.value = location.search
  })
}

/** Goes to a URL of the page, such as `/dead`, as a link does. */
export function go(url: string, how: 'push' | 'replace' = 'push'): void {
  if (url === path.value + search.value) return
  history[how === 'push' ? 'pushState' : 'replaceState'](null, '', root + url)
  read()
}

/** Back to where somebody came from; to the live view when that was another page. */
export function back(): void {
  if (history.state === null && document.referrer === '' && history.length <= 1) go('/')
  else history.back()
}

/** Links of the page are followed without loading it anew. */
export function followLinks(): void {
  addEventListener('popstate', read)
  document.addEventListener('click', (event) => {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.ctrlKey ||
      event.metaKey ||
      event.shiftKey ||
      event.altKey
    )
      return
    const link = (event.target as Element | null)?.closest?.('a')
    if (!link || link.origin !== location.origin || link.target || link.hasAttribute('download')) return
    if (!link.pathname.startsWith(`${root}/`)) return
    const to = ownPath(link.pathname)
    if (link.hash || to.startsWith('/v1/') || to.endsWith('.txt')) return
    event.preventDefault()
    go(to + link.search)
  })
}

/** The path that the page is served at, without the slash at its end: empty, or a prefix of a proxy. Scripts are in `assets/` below it. */
export const root = new URL('..', import.meta.url).pathname.slice(0, -1)

/** Has every link of the page to one of its paths, such as `/dead`, lead there below its root. */
export function rootLinks(): void {
  const { vnode: others } = options
  options.vnode = (vnode) => {
    if (vnode.type === 'a') {
      const props = vnode.props as { href?: string }
      if (props.href?.startsWith('/')) props.href = root + props.href
    }
    others?.(vnode)
  }
}
