import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

/** Text for screen readers. It changes at most every three seconds. */
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

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Event monitor`
  }, [title])
}
