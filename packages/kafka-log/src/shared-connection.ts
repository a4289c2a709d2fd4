interface Shared<C> {
  connection: Promise<C>
  users: number
}

/**
 * Shares one connection among concurrent and later calls. It is closed when it was unused for some time, and never while a call uses it.
 * @param idleMs the time, in milliseconds
 */
export function createSharedConnection<C extends { close(): unknown }>(open: () => C | Promise<C>, idleMs: number) {
  /** The connection for new calls. Any other connection is closed after its last user. */
  let current: Shared<C> | undefined
  /** Runs only while `current` has no users. */
  let timer: NodeJS.Timeout | undefined

  async function end({ connection }: Shared<C>): Promise<void> {
    await connection.then((opened) => opened.close()).catch(() => {})
  }

  /** Closes the connection. Calls in progress fail, because a service that ends does not wait for them. */
  async function closeCurrent(): Promise<void> {
    clearTimeout(timer)
    const closing = current
    if (!closing) return
    current = undefined
    closing.users = Number.POSITIVE_INFINITY
    await end(closing)
  }

  return {
    /** Runs a function with the open connection, or with a new one. After a failure, later calls get a new connection. */
    async use<T>(work: (connection: C) => Promise<T>): Promise<T> {
      current ??= { connection: Promise.resolve().then(open), users: 0 }
      const shared = current
      shared.users += 1
      clearTimeout(timer)
      try {
        return await work(await shared.connection)
      } catch (error) {
        if (current === shared) current = undefined
        throw error
      } finally {
        shared.users -= 1
        if (shared.users === 0 && current !== shared) void end(shared)
        else if (shared.users === 0) timer = setTimeout(closeCurrent, idleMs).unref()
      }
    },
    /** True if a connection is open, which may have broken since its last use. */
    isOpen: () => current !== undefined,
    close: closeCurrent,
  }
}
