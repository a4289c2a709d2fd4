import { once } from 'node:events'
import type { Server } from 'node:http'
import { CliError } from '@orderflow/stack/base'
import express from 'express'

/**
 * Serves the built site on this machine only.
 * @param port 0 for any free port
 * @throws {CliError} `port-in-use`
 */
export async function serve(folder: string, port: number): Promise<Server> {
  const app = express()
    .disable('x-powered-by')
    .use(express.static(folder))
    .use((_request, response) => response.status(404).sendFile('404.html', { root: folder }))
  const server = app.listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new CliError('port-in-use', `port ${port} is in use`, { nextStep: 'set PORT to another port', cause })
  }
  return server
}
