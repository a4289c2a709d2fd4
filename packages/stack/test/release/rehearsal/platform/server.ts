import { randomUUID } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import express, { type Express, type NextFunction, type Request, type RequestHandler, type Response } from 'express'
import type { DynoOptions } from './dynos.ts'
import { Failure } from './failure.ts'
import { format, matches, watchLog } from './log.ts'
import { account, appObject, dynoObject, formationObjects, releaseObject } from './objects.ts'
import { createOperations, type FindImage, type FormationUpdate } from './operations.ts'
import { requireValid, type SchemaName } from './schemas.ts'
import { type AppState, current } from './state.ts'

export interface ServerOptions extends DynoOptions {
  apps: Map<string, AppState>
  addApp: (name: string, stack: string) => Promise<AppState>
  token: string
  /** The platform's name in the media type. */
  platform: string
  findImage: FindImage
  /** Called before each request. It may answer or delay the request. */
  interfere?: RequestHandler
  /** Emits `end` to end open log sessions. The real platform ends them after a while. */
  logSessions?: EventEmitter
}

/** Creates the part of the platform's API that releases use. It checks requests by the API's public schema. */
export function createServer(options: ServerOptions): Express {
  const { apps, token, platform } = options
  const operations = createOperations(options)
  const sessions = new Map<string, { app: AppState; query: Record<string, unknown> }>()
  const server = express().disable('x-powered-by').set('etag', false)

  // The URL of a log session needs no token.
  server.get('/logplex/:id', (request, response) => {
    const session = sessions.get(request.params.id)
    if (!session) throw new Failure(404, 'not_found', 'No such session.')
    streamLog(session.app, session.query, request, response)
    options.logSessions?.once('end', () => response.end())
  })

  server.use((request, response, next) => {
    response.set({ 'RateLimit-Remaining': '4500', 'Request-Id': randomUUID() })
    requireAuthorized(request, token)
    requireAccept(request, platform)
    next()
  })
  server.use(express.json({ strict: false, type: isJson }))
  if (options.interfere) server.use(options.interfere)

  server.get('/account', (_request, response) => response.json(account))
  server.param('app', (request, _response, next) => {
    const app = apps.get(String(request.params.app))
    next(app ? undefined : new Failure(404, 'not_found', "Couldn't find that app."))
  })
  const appOf = (request: Request) => apps.get(String(request.params.app)) as AppState
  const take =
    (name: SchemaName): RequestHandler =>
    (request, _response, next) => {
      requireValid(name, request.body)
      next()
    }

  server.post('/apps', take('app'), async (request, response) => {
    const { name, stack } = request.body as { name: string; stack: string }
    if (apps.has(name)) throw new Failure(422, 'invalid_params', `Name ${name} is already taken`)
    response.status(201).json(appObject(await options.addApp(name, stack)))
  })
  server.get('/apps/:app', (request, response) => response.json(appObject(appOf(request))))
  server.get('/apps/:app/config-vars', (request, response) => response.json(current(appOf(request)).configVars))
  server.patch('/apps/:app/config-vars', take('configVars'), (request, response) => {
    operations.patchConfigVars(appOf(request), request.body)
    response.json(current(appOf(request)).configVars)
  })

  server.get('/apps/:app/releases', (request, response) => sendReleases(appOf(request), request, response))
  server.get('/apps/:app/releases/:release', (request, response) => {
    const { release: wanted } = request.params
    const found = appOf(request).releases.find(({ id, version }) => id === wanted || String(version) === wanted)
    if (!found) throw new Failure(404, 'not_found', "Couldn't find that release.")
    response.json(releaseObject(appOf(request), found))
  })
  server.post('/apps/:app/releases', take('rollback'), (request, response) => {
    requireContainers(appOf(request))
    response.status(201).json(releaseObject(appOf(request), operations.rollBack(appOf(request), request.body.release)))
  })

  server.get('/apps/:app/formation', (request, response) => response.json(formationObjects(appOf(request))))
  server.patch('/apps/:app/formation', async (request, response) => {
    const app = appOf(request)
    requireValid(isDockerReleases(request) ? 'dockerFormation' : 'formation', request.body)
    if (isDockerReleases(request)) requireContainers(app)
    await operations.updateFormation(app, request.body.updates as FormationUpdate[])
    response.json(formationObjects(app))
  })
  server.patch('/apps/:app/formation/web', take('dockerProcess'), (request, response) => {
    if (!isDockerReleases(request)) throw new Failure(406, 'not_acceptable', 'Needs version=3.docker-releases.')
    operations.removeImage(appOf(request))
    response.json({})
  })

  server.get('/apps/:app/dynos', (request, response) => {
    const app = appOf(request)
    response.json(app.dynos.map((dyno) => dynoObject(app, dyno)))
  })
  server.post(
    ['/apps/:app/dynos/:name/actions/stop', '/apps/:app/formations/:name/actions/stop'],
    async (request, response) => {
      await operations.stopDynos(appOf(request), String(request.params.name))
      response.status(202).json({})
    },
  )

  server.post('/apps/:app/log-sessions', take('logSession'), (request, response) => {
    const id = randomUUID()
    sessions.set(id, { app: appOf(request), query: request.body ?? {} })
    const at = new Date().toISOString()
    const url = `http://${request.get('host')}/logplex/${id}?srv=${Date.now()}`
    response.status(201).json({ id, logplex_url: url, created_at: at, updated_at: at })
  })

  server.use((_request, _response, next) =>
    next(new Failure(404, 'not_found', 'The requested API endpoint was not found.')),
  )
  server.use(sendFailure)
  return server
}

/**
 * Returns true for a JSON body, and false for an empty body.
 * @throws {Failure} 400 for another type of body
 */
function isJson(request: { headers: Record<string, string | string[] | undefined> }): boolean {
  const type = request.headers['content-type']
  if (request.headers['content-length'] === '0' || type === undefined) return false
  if (!String(type).startsWith('application/json'))
    throw new Failure(400, 'bad_request', 'Content-Type is not application/json.')
  return true
}

function requireAuthorized(request: Request, token: string): void {
  const given = request.get('authorization') ?? ''
  if (given !== `Bearer ${token}`) throw new Failure(401, 'unauthorized', 'Invalid credentials provided.')
}

function requireAccept(request: Request, platform: string): void {
  const [type, version = ''] = (request.get('accept') ?? '').split(/; ?/)
  if (type === `application/vnd.${platform}+json` && /^version=3(\.[\w-]+)?$/.test(version)) return
  throw new Failure(406, 'not_acceptable', `Accept must be application/vnd.${platform}+json; version=3.`)
}

const isDockerReleases = (request: Request) => /version=3\.docker-releases$/.test(request.get('accept') ?? '')

function requireContainers(app: AppState): void {
  if (app.stack !== 'container') throw new Failure(422, 'invalid_params', `The ${app.stack} stack takes no images.`)
}

/** Sends the page of releases that the `Range` header selects, such as `version ..; max=1, order=desc`. */
function sendReleases(app: AppState, request: Request, response: Response): void {
  const range = request.get('range') ?? ''
  if (range && !/^version \S*\.\.;?/.test(range)) throw new Failure(416, 'bad_range', `Bad range: ${range}`)
  const all = app.releases.map((release) => releaseObject(app, release))
  if (/order=desc/.test(range)) all.reverse()
  const max = Number(/max=(\d+)/.exec(range)?.[1] ?? 200)
  response.status(all.length > max ? 206 : 200).json(all.slice(0, max))
}

/** Streams a log as lines of text, or as server-sent events if the client requests them. */
function streamLog(app: AppState, query: Record<string, unknown>, request: Request, response: Response): void {
  const {
    dyno,
    source,
    lines = 100,
    tail = false,
  } = query as { dyno?: string; source?: string; lines?: number; tail?: boolean }
  const isWanted = matches({ dyno, source })
  const asEvents = /event-stream/.test(request.get('accept') ?? '')
  response.set('content-type', asEvents ? 'text/event-stream' : 'text/plain').flushHeaders()
  const write = (line: string) => response.write(asEvents ? `data: ${line}\n\n` : `${line}\n`)
  for (const line of app.log.filter(isWanted).slice(-lines)) write(format(line))
  if (!tail) return void response.end()
  response.once(
    'close',
    watchLog(app, (line) => isWanted(line) && write(format(line))),
  )
}

function sendFailure(error: unknown, _request: Request, response: Response, _next: NextFunction): void {
  const { status, id } =
    error instanceof Failure ? error : { status: (error as { status?: number }).status ?? 500, id: 'bad_request' }
  response.status(status).json({ id, message: (error as Error).message })
}
