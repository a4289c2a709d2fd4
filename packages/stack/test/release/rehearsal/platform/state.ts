import { randomUUID } from 'node:crypto'

export interface Image {
  /** The digest of the image's configuration. A release names the image by this digest. */
  digest: string
  /** The name for `docker pull`, with the digest of the manifest. */
  reference: string
}

export interface ReleaseState {
  id: string
  version: number
  description: string
  createdAt: string
  image: Image | undefined
  configVars: Record<string, string>
}

export interface DynoState {
  id: string
  name: string
  state: 'starting' | 'up' | 'crashed' | 'down'
  release: ReleaseState
  updatedAt: string
  /** The port on this machine, known after the start. */
  port: number | undefined
  stop: () => Promise<void>
}

export interface AppState {
  id: string
  name: string
  stack: string
  createdAt: string
  webUrl: string
  /** The releases, oldest first. */
  releases: ReleaseState[]
  /** The wanted number of web processes. Undefined before the first image. */
  quantity: number | undefined
  dynos: DynoState[]
  log: LogLine[]
}

export interface LogLine {
  at: string
  source: 'app' | 'heroku'
  dyno: string
  text: string
}

export function newApp(name: string, stack: string, webUrl: string): AppState {
  const app: AppState = {
    id: randomUUID(),
    name,
    stack,
    createdAt: new Date().toISOString(),
    webUrl,
    releases: [],
    quantity: undefined,
    dynos: [],
    log: [],
  }
  addRelease(app, 'Initial release', {})
  return app
}

export function current(app: AppState): ReleaseState {
  return app.releases.at(-1) as ReleaseState
}

export function addRelease(
  app: AppState,
  description: string,
  change: { image?: Image | undefined; configVars?: Record<string, string> },
): ReleaseState {
  const last = app.releases.at(-1)
  const release: ReleaseState = {
    id: randomUUID(),
    version: app.releases.length + 1,
    description,
    createdAt: new Date().toISOString(),
    image: 'image' in change ? change.image : last?.image,
    configVars: change.configVars ?? last?.configVars ?? {},
  }
  app.releases.push(release)
  return release
}
