import * as echarts from 'echarts'
import type { Chart } from './findings.ts'

const [width, height] = [760, 360]

/** Returns the chart as an SVG document. It needs no browser. */
export function svgOf({ title, unit, categories, series, logarithmic }: Chart): string {
  const labelWidth = (0.85 * width) / categories.length
  const fontSize = labelWidth < 80 ? 9 : 12
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width, height })
  chart.setOption({
    animation: false,
    backgroundColor: '#fff',
    title: { text: title, left: 'center', top: 5, textStyle: { fontSize: 15 } },
    legend: { show: series.length > 1, top: 30, itemGap: 40 },
    grid: { top: 80, bottom: 30, left: 10, right: 10, containLabel: true },
    xAxis: {
      type: 'category',
      data: categories.map((category) => inLines(category, Math.floor(labelWidth / (0.55 * fontSize)))),
      axisLabel: { interval: 0, fontSize },
    },
    yAxis: { type: logarithmic ? 'log' : 'value', name: unit, min: logarithmic ? 1 : 0 },
    series: series.map(({ name, values }) => ({
      type: 'bar',
      name,
      data: values.map((value) => (Number.isFinite(value) ? Number(value.toPrecision(3)) : null)),
      barMaxWidth: 70,
      label: { show: true, position: 'top', fontSize: 10 },
    })),
  })
  const svg = chart.renderToSVGString()
  chart.dispose()
  return `${svg}\n`
}

/**
 * Breaks the text at spaces into lines of at most `length` characters. ECharts breaks lines, too. But on a slow machine it measures text less
 * exactly and returns another picture.
 */
function inLines(text: string, length: number): string {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= length) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.join('\n')
}
