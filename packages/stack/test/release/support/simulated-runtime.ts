import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Runtime } from '../rehearsal/platform/index.ts'

/**
 * Returns a runtime of simulated web processes, which are HTTP servers in this process. The config var `SIMULATE` sets the behavior: `crash` ends
 * immediately, `deaf` never listens, `sick` answers 503 at /readyz.
 */
export function simulatedRuntime(): Runtime {
  return {
    start: async ({ configVars, onLine }) => {
      const { SIMULATE: behaviour, State__ConnectionString: uri = '' } = configVars
      const server = createServer((request, response) => {
        const isSick = behaviour === 'sick' && request.url === '/readyz'
        response.writeHead(isSick ? 503 : 200).end()
      })
      let end = (_status: number) => {}
      const ended = new Promise<number>((resolve) => {
        end = resolve
      })
      onLine(`starting with ${uri}`)
      if (behaviour === 'crash') setTimeout(() => end(1), 20)
      if (behaviour !== 'crash' && behaviour !== 'deaf') {
        server.listen(0, '127.0.0.1')
        await new Promise((resolve) => server.once('listening', resolve))
      }
      const stop = async () => {
        server.closeAllConnections()
        server.close()
        end(0)
      }
      return { port: (server.address() as AddressInfo | null)?.port ?? 1, ended, stop }
    },
  }
}
