import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { stop } from './dynos.ts'
import { createRouter } from './router.ts'
import { createServer, type ServerOptions } from './server.ts'
import { type AppState, newApp } from './state.ts'

export interface PlatformOptions extends Omit<ServerOptions, 'apps' | 'addApp'> {
  /** The initial apps: their names and stacks. */
  apps: Record<string, string>
}

export interface RunningPlatform {
  apiUrl: string
  /** Returns the state of an app, which tests may change. */
  app: (name: string) => AppState
  close: () => Promise<void>
}

/** Opens the API and the address of each app on unused loopback ports. */
export async function startPlatform(options: PlatformOptions): Promise<RunningPlatform> {
  const apps = new Map<string, AppState>()
  const servers: Server[] = []
  const addApp = async (name: string, stack: string): Promise<AppState> => {
    const router = createRouter(() => appOf(apps, name))
    servers.push(router)
    const app = newApp(name, stack, `${await listen(router)}/`)
    apps.set(name, app)
    return app
  }
  for (const [name, stack] of Object.entries(options.apps)) await addApp(name, stack)
  const api = createServer({ ...options, apps, addApp }).listen(0, '127.0.0.1')
  servers.push(api)
  await once(api, 'listening')
  return {
    apiUrl: addressOf(api),
    app: (name) => appOf(apps, name),
    close: async () => {
      for (const server of servers) {
        server.closeAllConnections()
        server.close()
      }
      const dynos = [...apps.values()].flatMap((app) => app.dynos.map((dyno) => stop(app, dyno)))
      await Promise.all(dynos)
    },
  }
}

function appOf(apps: Map<string, AppState>, name: string): AppState {
  const app = apps.get(name)
  if (!app) throw new Error(`unknown app ${name}`)
  return app
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return addressOf(server)
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
