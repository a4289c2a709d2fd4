import * as http from 'node:http'
import * as https from 'node:https'

/** What became of a client's requests: how many were answered, and the code of the error that ended it. */
export interface Outcome {
  answered: number
  end: string
}

/** Sends one request after the other on a connection that it keeps alive as long as the server does, until one fails. */
export async function keepBusy(url: string): Promise<Outcome> {
  const secure = url.startsWith('https:')
  const agent = new (secure ? https : http).Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
  for (let answered = 0; ; answered += 1) {
    const end = await ask(url, agent)
    if (end === undefined) continue
    agent.destroy()
    return { answered, end }
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
