interface Connection {
  close(): unknown
}

interface Shared<C> {
  connection: Promise<C>
  users: number
  /** True if the connection is closed after its last user. */
  isRetired: boolean
}

export interface SharedConnection<C> {
  /** Runs a function with the open connection, or with a new one. After a failure, later calls get a new connection. */
  use<T>(work: (connection: C) => Promise<T>): Promise<T>
  /** True if a connection is open, which may have broken since its last use. */
  isOpen(): boolean
  /** Closes the connection at once. */
  close(): Promise<void>
}

/**
 * Shares one connection among concurrent and later calls. It is closed when it was unused for some time, and never while a call uses it.
 * @param idleMs the time, in milliseconds
 */
export function createSharedConnection<C extends Connection>(
  open: () => C | Promise<C>,
  idleMs: number,
): SharedConnection<C> {
  let current: Shared<C> | undefined
  /** Runs only while `current` has no users. */
  let timer: NodeJS.Timeout | undefined

  async function end({ connection }: Shared<C>): Promise<void> {
    await connection.then((opened) => opened.close()).catch(() => {})
  }

  function retire(shared: Shared<C>): void {
    shared.isRetired = true
    if (current === shared) current = undefined
  }

  return {
    async use(work) {
      current ??= { connection: Promise.resolve().then(open), users: 0, isRetired: false }
      const shared = current
      shared.users += 1
      clearTimeout(timer)
      try {
        return await work(await shared.connection)
      } catch (error) {
        retire(shared)
        throw error
      } finally {
        shared.users -= 1
        if (shared.users === 0 && shared.isRetired) void end(shared)
        if (current === shared && shared.users === 0) {
          timer = setTimeout(() => {
            retire(shared)
            void end(shared)
          }, idleMs)
          timer.unref()
        }
      }
    },
    isOpen: () => current !== undefined,
    async close() {
      clearTimeout(timer)
      const closing = current
      if (!closing) return
      retire(closing)
      // Calls in progress fail, because a service that ends does not wait for them.
      closing.users = Number.POSITIVE_INFINITY
      await end(closing)
    },
  }
}
