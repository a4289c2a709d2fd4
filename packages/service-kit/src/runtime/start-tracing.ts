import { errorType, within } from '../telemetry/handling.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Tracing } from '../telemetry/traces/trace.ts'
import { traceSettings } from '../telemetry/traces/trace-settings.ts'

/** A collector that is away fails every few seconds. */
const quietMs = 60_000

/** Records a service's traces, where the environment says who collects them; else nothing of it is loaded. */
export async function startTracing(service: string, env: NodeJS.ProcessEnv, log: Logger): Promise<Tracing | undefined> {
  const settings = traceSettings(env)
  if (!settings) return undefined
  const { otlpTracing } = await import('../telemetry/traces/otel.ts')
  let quietUntil = 0
  log.info(settings, 'traces are recorded')
  return otlpTracing(service, settings, (error) => {
    if (performance.now() < quietUntil) return
    quietUntil = performance.now() + quietMs
    // Whatever was handled when the sending began.
    within(undefined, () =>
      log.warn({ reason: errorType(error) }, 'spans were not taken by their collector; told once a minute'),
    )
  })
}
