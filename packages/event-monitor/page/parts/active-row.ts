import { useSignal } from '@preact/signals'
import { useKeys } from '../data/commands.ts'

/** The row of a table that `j` and `k` move to and Enter opens; -1 before. */
export function useActiveRow(count: number, open: (index: number) => void): number {
  const active = useSignal(-1)
  const move = (by: number) => () => {
    active.value = Math.max(0, Math.min(count - 1, active.value + by))
    // Of two tables the lower has the keys.
    requestAnimationFrame(() =>
      [...document.querySelectorAll('tr.is-active')].at(-1)?.scrollIntoView({ block: 'nearest' }),
    )
    return count > 0
  }
  useKeys({
    next: move(1),
    previous: move(-1),
    open: () => {
      if (active.value < 0 || active.value >= count) return false
      open(active.value)
      return true
    },
    back: () => {
      if (active.value < 0) return false
      active.value = -1
      return true
    },
  })
  return active.value
}
