import { options } from 'preact'

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
