import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

/** Whether a media query holds, now and when it changes. */
export function useMedia(query: string): boolean {
  const holds = useSignal(matchMedia(query).matches)
  useEffect(() => {
    const media = matchMedia(query)
    const read = () => {
      holds.value = media.matches
    }
    media.addEventListener('change', read)
    return () => media.removeEventListener('change', read)
  }, [query])
  return holds.value
}
