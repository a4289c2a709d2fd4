import { effect, type ReadonlySignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { count } from '../lib/format.ts'
import { plotted, type Strip } from '../lib/live-counts.ts'

interface Props {
  strip: ReadonlySignal<Strip | null>
  /** Receives the time range that the user selects, in milliseconds. */
  marked: (from: number, to: number) => void
}

export function RateStrip({ strip, marked }: Props) {
  const element = useRef<HTMLDivElement>(null)
  const latest = useRef(marked)
  latest.current = marked
  useEffect(() => {
    let ended = false
    let end = () => {}
    import('./strip-chart.ts').then(({ stripChart }) => {
      if (ended || !element.current) return
      const chart = stripChart(element.current, [[], [], []], (from, to) => latest.current(from, to))
      const stop = effect(() => {
        if (strip.value) chart.draw(plotted(strip.value))
      })
      end = () => {
        stop()
        chart.destroy()
      }
    })
    return () => {
      ended = true
      end()
    }
  }, [strip])
  const sum = (values: number[] = []) => count(values.reduce((total, each) => total + each, 0))
  const label = `Events per second. This time range has ${sum(strip.value?.counts)} events, and ${sum(strip.value?.invalid)} of them are not valid.`
  return (
    <div
      class="strip"
      role="img"
      aria-label={label}
      title="Drag to show only the events of a time range"
      ref={element}
    />
  )
}
