import * as http from 'node:http'
import * as https from 'node:https'

/** A client that sends one request after the other on the same connection. */
export interface BusyClient {
  answered: number
  /** The code of the error that ended the client. */
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

/** Returns the code of the error of a request, or undefined if the request was answered. */
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
