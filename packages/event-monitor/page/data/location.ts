import { batch, signal } from '@preact/signals'
import { options } from 'preact'

/** The path prefix of a proxy, such as `/monitor`, or empty. This script is in `assets/` below this prefix. */
export const root = new URL('..', import.meta.url).pathname.slice(0, -1)

const ownPath = (pathname: string) => pathname.slice(root.length) || '/'

/** The path of the page's address, without `root`. */
export const path = signal(ownPath(location.pathname))
export const search = signal(location.search)

function read(): void {
  batch(() => {
    path.value = ownPath(location.pathname)
    search.value = location.search
  })
}

export function go(url: string, how: 'push' | 'replace' = 'push'): void {
  if (url === path.value + search.value) return
  history[how === 'push' ? 'pushState' : 'replaceState'](null, '', root + url)
  read()
}

export function back(): void {
  if (history.state === null && document.referrer === '' && history.length <= 1) go('/')
  else history.back()
}

/** Follows links of the page without a reload. */
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

/** Prepends `root` to links such as `/dead`. */
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
