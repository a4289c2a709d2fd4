import { effect, type ReadonlySignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { count } from '../lib/format.ts'
import { plotted, type Strip } from '../lib/live-counts.ts'

interface Props {
  strip: ReadonlySignal<Strip | null>
  /** Called when the user selects a range; milliseconds. */
  marked: (from: number, to: number) => void
}

/** Shows events a second over time, and the invalid ones among them. */
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
  const label = `Events a second: ${sum(strip.value?.counts)} in this time, ${sum(strip.value?.invalid)} of them not valid`
  return <div class="strip" role="img" aria-label={label} title="Select a range to show only that time" ref={element} />
}
