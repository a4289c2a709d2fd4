import { readMessages } from './lib/event-stream.ts'
import { createLiveHub, type OpenStream, type Subscription } from './lib/live-hub.ts'
import { away, problemOf } from './lib/problem.ts'

// This file runs as a shared worker: one for all tabs of a browser. Without it, the streams of six tabs would use all connections of the browser.

/** A stream without a message for this time is closed. The monitor sends a message every second. */
const silenceMs = 5_000
/** Time after which a tab without a sign of life has crashed. Tabs send one every five seconds. */
const crashedMs = 20_000

const openStream: OpenStream = async (url, { authorization, signal, onMessage }) => {
  const silence = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const wait = () => {
    clearTimeout(timer)
    timer = setTimeout(() => silence.abort(), silenceMs)
  }
  try {
    wait()
    const headers: Record<string, string> = authorization === null ? {} : { authorization }
    const response = await fetch(url, { headers, signal: AbortSignal.any([signal, silence.signal]) })
    if (!response.ok) throw await problemOf(response)
    await readMessages(response, ({ event = '', data }) => onMessage(event, JSON.parse(data)), wait)
    throw away
  } catch (error) {
    throw error instanceof Error ? away : error
  } finally {
    clearTimeout(timer)
  }
}

const hub = createLiveHub(openStream)

function serve(port: MessagePort): void {
  let leave = () => {}
  let timer: ReturnType<typeof setTimeout> | undefined
  const end = () => {
    clearTimeout(timer)
    leave()
    port.close()
  }
  port.onmessage = ({ data }: MessageEvent<Subscription | 'alive' | 'leave'>) => {
    if (data === 'leave') return end()
    clearTimeout(timer)
    timer = setTimeout(end, crashedMs)
    if (data !== 'alive') leave = hub.join(data, (message) => port.postMessage(message))
  }
}

const scope = globalThis as unknown as { onconnect: (event: MessageEvent) => void }
scope.onconnect = ({ ports }) => {
  for (const port of ports) serve(port)
}
