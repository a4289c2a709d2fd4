import * as echarts from 'echarts'
import type { Chart } from './findings.ts'

const [width, height] = [760, 360]

/** Returns the chart as an SVG document. It needs no browser. */
export function svgOf({ title, unit, categories, series, logarithmic }: Chart): string {
  const labelWidth = (0.85 * width) / categories.length
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width, height })
  chart.setOption({
    animation: false,
    backgroundColor: '#fff',
    title: { text: title, left: 'center', top: 5, textStyle: { fontSize: 15 } },
    legend: { show: series.length > 1, top: 30, itemGap: 40 },
    grid: { top: 80, bottom: 30, left: 10, right: 10, containLabel: true },
    xAxis: {
      type: 'category',
      data: categories,
      axisLabel: { interval: 0, width: labelWidth, overflow: 'break', fontSize: labelWidth < 80 ? 9 : 12 },
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
