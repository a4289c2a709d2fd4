import { useEffect } from 'preact/hooks'

/** What the tab is called. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Event monitor`
  }, [title])
}
