import type { Problem } from '../../src/api/index.ts'
import type { Subscription, ToTab } from '../lib/live-hub.ts'

/** The worker must answer in this time, in milliseconds. Otherwise, the tab opens its own stream. */
const answerMs = 4_000
const aliveMs = 5_000

/** The address of the worker's script. */
const script = document.querySelector<HTMLLinkElement>('link[rel="live-worker"]')?.href

let isBroken = script === undefined || typeof SharedWorker === 'undefined'

/** Returns true if all tabs of this browser can share a stream. */
export const isShared = (): boolean => !isBroken

/**
 * Receives messages from the stream that all tabs share.
 * @returns the problem that ended the stream; null if the worker does not answer
 */
export function readShared(
  subscription: Subscription,
  signal: AbortSignal,
  take: (message: { event: string; data: unknown }) => void,
): Promise<Problem | null> {
  return new Promise((resolve) => {
    const worker = new SharedWorker(script ?? '', { type: 'module', name: 'live' })
    const { port } = worker
    const alive = setInterval(() => port.postMessage('alive'), aliveMs)
    const end = (problem: Problem | null) => {
      clearInterval(alive)
      clearTimeout(unanswered)
      port.postMessage('leave')
      port.close()
      resolve(problem)
    }
    const fail = () => {
      isBroken = true
      end(null)
    }
    const unanswered = setTimeout(fail, answerMs)
    worker.onerror = fail
    signal.addEventListener('abort', () => end(null))
    port.onmessage = ({ data }: MessageEvent<ToTab>) => {
      clearTimeout(unanswered)
      if (signal.aborted) return
      if (data.kind === 'ended') end(data.problem)
      else if (data.kind === 'message') take(data)
    }
    port.postMessage(subscription)
  })
}
