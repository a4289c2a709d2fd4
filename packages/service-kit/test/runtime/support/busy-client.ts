import * as http from 'node:http'
import * as https from 'node:https'

/** A client that sends one request after the other on a connection that it keeps alive as long as the server does. */
export interface BusyClient {
  /** How many requests were answered so far. */
  answered: number
  /** The code of the error that ended it. */
  end: Promise<string>
}

export function busyClient(url: string): BusyClient {
  const secure = url.startsWith('https:')
  const agent = new (secure ? https : http).Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
  const client: BusyClient = { answered: 0, end: goOn() }
  return client

  async function goOn(): Promise<string> {
    for (;;) {
      const end = await ask(url, agent)
      if (end === undefined) client.answered += 1
      else {
        agent.destroy()
        return end
      }
    }
  }
}

/** The code of the error that a request met; undefined when it was answered. */
function ask(url: string, agent: http.Agent): Promise<string | undefined> {
  const { get } = url.startsWith('https:') ? https : http
  return new Promise((resolve) => {
    const request = get(url, { agent }, (response) => {
      response.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      response.on('end', () => resolve(undefined)).resume()
    })
    request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  })
}
