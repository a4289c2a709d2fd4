import { table } from '@orderflow/service-kit/terminal'
import { dockerUp } from '../containers/up.ts'
import { jaegerUrl } from '../lib/jaeger.ts'
import { localFolder } from '../lib/paths.ts'
import { localPorts } from '../lib/ports.ts'
import { services, sidecarOf } from '../lib/services.ts'
import { paint, print, timed } from '../lib/terminal.ts'
import { startJaeger, startPrometheus } from '../observe/observers.ts'
import { processState } from '../processes/run-record.ts'
import { startStack } from '../processes/start.ts'
import { stopProcesses, withStackLock } from '../processes/stop.ts'
import { jaeger } from '../processes/trace-variables.ts'
import { ensureApiKeys } from './api-key.ts'
import { chooseStore } from './store.ts'
import { chooseWay } from './way.ts'

interface ObserveOptions {
  onProgress: (line: string) => void
  signal: AbortSignal
}

/** A page, and what it shows. */
type Page = [what: string, url: string]

/**
 * `make observe`: `make up`, with what watches it: traces in Jaeger, metrics and alerts in Prometheus, and in containers a dashboard in Grafana.
 * Services and sidecars that run without it start again, to tell of their work. `make down` ends all of it.
 */
export async function observe(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<void> {
  const onProgress = timed()
  const options = { onProgress, signal }
  const way = await chooseWay(env, options)
  ensureApiKeys()
  const pages = await (way === 'local' ? observeProcesses : observeContainers)(env, options)
  onProgress(paint('green', 'observed'))
  print()
  for (const line of table(pages)) print(line)
  print()
  print('next: make demo, and docs/observability.md')
}

async function observeProcesses({ STORE }: NodeJS.ProcessEnv, options: ObserveOptions): Promise<Page[]> {
  const { onProgress } = options
  const store = await chooseStore('local', STORE, onProgress)
  const ports = localPorts()
  await withStackLock(localFolder, onProgress, async () => {
    const isTraced = processState(localFolder, jaeger).state === 'running'
    await startJaeger(localFolder, ports, options)
    await startPrometheus(localFolder, ports, options)
    const untraced = services.flatMap((service) => [service.name, sidecarOf(service)])
    if (!isTraced) await stopProcesses(localFolder, untraced, onProgress)
  })
  await startStack({ store, ...options })
  onProgress('without Grafana, which has no package: packages/cli/observe/dashboard.json is for those who have it')
  return pagesAt(ports)
}

async function observeContainers({ STORE }: NodeJS.ProcessEnv, options: ObserveOptions): Promise<Page[]> {
  const { observers } = await dockerUp({
    store: await chooseStore('docker', STORE, options.onProgress),
    observed: true,
    ...options,
  })
  return pagesAt(observers)
}

function pagesAt(ports: { jaeger: number; prometheus: number; grafana?: number | undefined }): Page[] {
  const prometheus = `http://localhost:${ports.prometheus}`
  return [
    ['traces', `${jaegerUrl(ports)}/`],
    ['metrics', `${prometheus}/query`],
    ['alerts', `${prometheus}/alerts`],
    ['what is scraped', `${prometheus}/targets`],
    ...(ports.grafana ? [['dashboard', `http://localhost:${ports.grafana}/d/orderflow`] satisfies Page] : []),
  ]
}
