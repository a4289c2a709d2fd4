import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { logLine } from './log.ts'
import { type AppState, current, type DynoState, type Image } from './state.ts'

export interface Container {
  /** The port of this machine that leads to the container's $PORT. */
  port: number
  /** Stops the container with SIGTERM, then with SIGKILL. */
  stop: () => Promise<void>
  /** Resolves with the exit status. */
  ended: Promise<number>
}

export interface ContainerSpec {
  app: string
  dyno: string
  image: Image
  configVars: Record<string, string>
  onLine: (line: string) => void
}

/** Runs containers with Docker, or simulates them in a test. */
export interface Runtime {
  start: (spec: ContainerSpec) => Promise<Container>
}

export interface DynoOptions {
  runtime: Runtime
  bootTimeoutMs: number
}

const underWay = new WeakMap<AppState, Promise<void>>()

/** Stops the processes of an app, and starts the wanted number of processes for the newest release. Only one restart runs at a time. */
export function restart(app: AppState, options: DynoOptions): void {
  const before = underWay.get(app) ?? Promise.resolve()
  underWay.set(
    app,
    before.then(() => restartNow(app, options)),
  )
}

/** Waits until the processes of the newest release are starting, and so have names. */
export async function restarted(app: AppState): Promise<void> {
  await underWay.get(app)
}

async function restartNow(app: AppState, options: DynoOptions): Promise<void> {
  const old = app.dynos
  app.dynos = []
  await Promise.all(old.map((dyno) => stop(app, dyno)))
  const release = current(app)
  const wanted = release.image ? (app.quantity ?? 0) : 0
  for (let number = 1; number <= wanted; number += 1) {
    const dyno: DynoState = {
      id: randomUUID(),
      name: `web.${number}`,
      state: 'starting',
      release,
      updatedAt: new Date().toISOString(),
      port: undefined,
      stop: async () => {},
    }
    app.dynos.push(dyno)
    void run(app, dyno, options)
  }
}

export async function stop(app: AppState, dyno: DynoState): Promise<void> {
  if (dyno.state !== 'crashed') enter(app, dyno, 'down')
  await dyno.stop()
}

async function run(app: AppState, dyno: DynoState, { runtime, bootTimeoutMs }: DynoOptions): Promise<void> {
  const { image, configVars } = dyno.release
  if (!image) return
  const onLine = (text: string) => logLine(app, { source: 'app', dyno: dyno.name, text })
  try {
    const container = await runtime.start({ app: app.name, dyno: dyno.name, image, configVars, onLine })
    dyno.stop = container.stop
    dyno.port = container.port
    // The process was stopped during its start.
    if (dyno.state !== 'starting') return void (await container.stop())
    void container.ended.then((status) => {
      if (dyno.state === 'down') return
      tell(app, dyno, `Process exited with status ${status}`)
      enter(app, dyno, 'crashed')
    })
    await untilBound(app, dyno, bootTimeoutMs)
  } catch (error) {
    tell(app, dyno, (error as Error).message)
    enter(app, dyno, 'crashed')
  }
}

async function untilBound(app: AppState, dyno: DynoState, bootTimeoutMs: number): Promise<void> {
  const deadline = Date.now() + bootTimeoutMs
  while (dyno.state === 'starting') {
    if (await answers(dyno.port)) return enter(app, dyno, 'up')
    if (Date.now() > deadline) {
      tell(
        app,
        dyno,
        `Error R10 (Boot timeout) -> Web process failed to bind to $PORT within ${bootTimeoutMs / 1000} seconds`,
      )
      enter(app, dyno, 'crashed')
      return await dyno.stop()
    }
    await sleep(100)
  }
}

async function answers(port: number | undefined): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(2_000),
    })
    await response.body?.cancel()
    return true
  } catch {
    return false
  }
}

function enter(app: AppState, dyno: DynoState, state: DynoState['state']): void {
  if (dyno.state === state) return
  tell(app, dyno, `State changed from ${dyno.state} to ${state}`)
  dyno.state = state
  dyno.updatedAt = new Date().toISOString()
}

function tell(app: AppState, { name }: DynoState, text: string): void {
  logLine(app, { source: 'heroku', dyno: name, text })
}
