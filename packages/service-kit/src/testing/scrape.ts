import type { RequestListener } from 'node:http'
import { withServer } from './http.ts'

/** The values of a scrape, by the name of the metric with its labels. */
export type Samples = Map<string, number>

export const scrape = (listener: RequestListener): Promise<Samples> =>
  withServer(listener, async (url) => samplesIn(await (await fetch(`${url}/metrics`)).text()))

export function samplesIn(text: string): Samples {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const [, series = '', value] = /^([^{ ]+(?:\{.*\})?) (\S+)$/.exec(line) ?? []
      return [series, Number(value)]
    }),
  )
}
