import uPlot from 'uplot'
import { moment } from '../lib/format.ts'

export type StripData = [number[], number[], number[]]

/**
 * Draws the rate chart.
 * @param chosen receives the time range that the user selects, in milliseconds
 */
export function stripChart(element: HTMLElement, data: StripData, chosen: (from: number, to: number) => void) {
  let latest = data
  const make = (shown: StripData) => {
    const probe = element.appendChild(document.createElement('i'))
    // Reads the colour from an element, because a canvas cannot use CSS variables.
    const colour = (name: string) => {
      probe.style.color = `var(${name})`
      return getComputedStyle(probe).color
    }
    const axis = {
      stroke: colour('--muted'),
      grid: { stroke: colour('--line'), width: 1 },
      ticks: { show: false },
      font: '11px system-ui',
    }
    const plot = new uPlot(
      {
        width: Math.max(200, element.clientWidth),
        height: 96,
        legend: { show: false },
        // Leaves space at the right for half of the last label.
        padding: [6, 26, 0, 0],
        cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false }, y: false },
        scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
        series: [
          {},
          { stroke: colour('--accent'), fill: colour('--accent-soft'), width: 1.5, points: { show: false } },
          { stroke: colour('--bad'), fill: colour('--bad-soft'), width: 1.5, points: { show: false } },
        ],
        axes: [
          { ...axis, size: 22, space: 70, values: (_, splits) => splits.map((at) => clockOf(at, latest[0])) },
          {
            ...axis,
            size: 46,
            values: (_, splits) => splits.map((each) => (each % 1 === 0 ? each.toLocaleString('en') : '')),
          },
        ],
        hooks: {
          setSelect: [
            (plot) => {
              const { left, width } = plot.select
              if (width < 4) return
              const at = (pixel: number) => plot.posToVal(pixel, 'x') * 1000
              chosen(at(left), at(left + width))
              plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
            },
          ],
        },
      },
      shown,
      element,
    )
    probe.remove()
    return plot
  }
  let plot = make(data)
  const resized = new ResizeObserver(() => plot.setSize({ width: Math.max(200, element.clientWidth), height: 96 }))
  resized.observe(element)
  const recoloured = () => {
    plot.destroy()
    plot = make(latest)
  }
  const dark = matchMedia('(prefers-color-scheme: dark)')
  dark.addEventListener('change', recoloured)
  addEventListener('themechange', recoloured)
  return {
    draw(next: StripData) {
      latest = next
      plot.setData(next)
    },
    destroy() {
      resized.disconnect()
      dark.removeEventListener('change', recoloured)
      removeEventListener('themechange', recoloured)
      plot.destroy()
    },
  }
}

function clockOf(seconds: number, shown: number[]): string {
  const length = (shown.at(-1) ?? 0) - (shown[0] ?? 0)
  const text = moment(new Date(seconds * 1000).toISOString())
  if (length > 172_800) return text.slice(5, 16)
  return length > 1200 ? text.slice(11, 16) : text.slice(11)
}
