import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

/** What a screen reader is told, politely: not more often than every few seconds, the newest alone. */
export const announced = signal('')

let last = 0
let waiting: ReturnType<typeof setTimeout> | undefined

export function announce(text: string): void {
  clearTimeout(waiting)
  waiting = setTimeout(
    () => {
      last = Date.now()
      announced.value = text
    },
    Math.max(0, last + 3000 - Date.now()),
  )
}

/** What the tab is called. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Event monitor`
  }, [title])
}
