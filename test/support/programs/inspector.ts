import { once } from 'node:events'

/** A connection to the inspector of a Node process (https://chromedevtools.github.io/devtools-protocol/v8/). */
export interface Inspector {
  send: (method: string, params?: object) => Promise<unknown>
  /** Returns the parameters of the next event with this name. */
  next: (event: string) => Promise<unknown>
  close: () => void
}

interface Message {
  id?: number
  method?: string
  params?: unknown
  result?: unknown
  error?: { message: string }
}

/** @param port the port of the inspector on 127.0.0.1 */
export async function attachTo(port: number): Promise<Inspector> {
  const response = await fetch(`http://127.0.0.1:${port}/json/list`)
  const [target] = (await response.json()) as { webSocketDebuggerUrl: string }[]
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '')
  await once(socket, 'open')
  const answers = new Map<number, (message: Message) => void>()
  const events = new Map<string, (params: unknown) => void>()
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message
    if (message.id !== undefined) answers.get(message.id)?.(message)
    else events.get(message.method ?? '')?.(message.params)
  })
  let last = 0
  return {
    async send(method, params = {}) {
      last += 1
      const answer = new Promise<Message>((resolve) => answers.set(last, resolve))
      socket.send(JSON.stringify({ id: last, method, params }))
      const { error, result } = await answer
      if (error) throw new Error(`${method}: ${error.message}`)
      return result
    },
    next: (event) => new Promise((resolve) => events.set(event, resolve)),
    close: () => socket.close(),
  }
}
