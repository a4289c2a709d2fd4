import { once } from 'node:events'
import { createServer } from 'node:net'

/** Above what `make up` of a test takes (test/support/free-offset.ts), below what stacks of tests reserve (packages/cli/src/lib/free-ports.ts). */
const range = { first: 19_200, size: 800 }
let next = Math.floor(Math.random() * range.size)

/**
 * A port that nobody listens on, and another one each time. It is none of those that the system gives to connections (from 32768 on), of
 * which any may be taken before a service listens on it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = range.first + (next++ % range.size)
    const server = createServer()
    server.listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    server.close()
    if (isFree) return port
  }
}
