import { join } from 'node:path'
import { built, goProgram } from '@orderflow/bench/built'
import { freePort, go, type ProcessSpec } from '@orderflow/stack/internals'

export const linkTool = built(
  'chaos/delay',
  { name: 'delay', label: 'the proxy that simulates a network', needs: [go] },
  goProgram('delay'),
)

/** A simulated network between a process and a server, with faults on demand. */
export interface Link {
  spec: ProcessSpec
  /** The proxy’s `host:port`, which the process uses as the server. */
  address: string
  setRoundTrip: (ms: number) => Promise<void>
  /** Holds all data, and keeps connections open. */
  hold: () => Promise<void>
  /** Resets every connection, drops held data, and resets new connections. */
  cut: () => Promise<void>
  /** Ends `hold` and `cut`, and forwards held data. */
  open: () => Promise<void>
}

/**
 * Creates a link, which is ready when its process runs and `open` succeeds.
 * @param upstream the server as `host:port`
 */
export async function linkTo(upstream: string, name: string): Promise<Link> {
  const [listen, control] = [await freePort(), await freePort()]
  const address = `127.0.0.1:${listen}`
  async function tell(path: string, body = ''): Promise<void> {
    const answer = await fetch(`http://127.0.0.1:${control}/${path}`, { method: 'POST', body })
    if (!answer.ok) throw new Error(`${name}: ${await answer.text()}`)
  }
  return {
    spec: {
      name,
      command: join(linkTool.folder, 'delay'),
      args: [address, upstream, `127.0.0.1:${control}`],
      env: {},
      ports: { listen, control },
    },
    address,
    setRoundTrip: (ms) => tell('', String(Math.round(ms * 1_000))),
    hold: () => tell('hold'),
    cut: () => tell('cut'),
    open: () => tell('open'),
  }
}
