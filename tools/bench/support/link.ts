import { join } from 'node:path'
import { freePort, go, type ProcessSpec } from '@orderflow/cli'
import { built, goProgram } from './built.ts'

/** The proxy that stands for a network. */
export const linkTool = built(
  'delay',
  { name: 'delay', label: 'the proxy that stands for a network', needs: [go] },
  goProgram('delay'),
)

/** The network between a process and a server, in which things go wrong as they are asked to. */
export interface Link {
  /** How its proxy is started. */
  spec: ProcessSpec
  /** `host:port`, where the process finds the server. */
  address: string
  /** Milliseconds from now on. */
  setRoundTrip: (ms: number) => Promise<void>
  /** Nothing goes on, and nobody is told: what is sent waits. */
  hold: () => Promise<void>
  /** Every connection is reset, what waits is gone, and new connections are reset, too. */
  cut: () => Promise<void>
  /** The end of `hold` and `cut`: what still waits goes on. */
  open: () => Promise<void>
}

/**
 * A link on ports of its own. It is there once its process is started (linkTool makes the program) and answers `open`.
 * @param name of the process
 * @param upstream the server, `host:port`
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
