import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * The ports that tests of this package use. They are above the ports of `make up` in a test (test/support/checkouts/free-offset.ts), and below the ports of
 * test stacks (packages/stack/src/application/free-ports.ts).
 */
const range = { first: 19_200, size: 800 }
let next = Math.floor(Math.random() * range.size)

/** Returns an unused port, different for each call. It is below 32768, because the system can use higher ports for connections at any moment. */
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
