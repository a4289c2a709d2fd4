import { send } from '@orderflow/service-kit/testing'
import { eventually } from '@orderflow/stack/base'

interface Alert {
  labels: Record<string, string>
  state: 'pending' | 'firing'
}

interface Target {
  labels: Record<string, string>
  health: 'up' | 'down' | 'unknown'
  lastError: string
}

export function prometheusAt(url: string) {
  const ask = async <T>(path: string) => (await send<{ data: T }>(`${url}/api/v1/${path}`)).body.data

  async function firing(wanted: Record<string, string>): Promise<boolean> {
    const { alerts } = await ask<{ alerts: Alert[] }>('alerts')
    return alerts.some(
      ({ labels, state }) =>
        state === 'firing' && Object.entries(wanted).every(([name, value]) => labels[name] === value),
    )
  }
  async function query(expression: string): Promise<{ labels: Record<string, string>; value: number }[]> {
    const { result } = await ask<{ result: { metric: Record<string, string>; value: [number, string] }[] }>(
      `query?query=${encodeURIComponent(expression)}`,
    )
    return result.map(({ metric, value: [, value] }) => ({ labels: metric, value: Number(value) }))
  }
  const targets = async () => (await ask<{ activeTargets: Target[] }>('targets')).activeTargets
  const named = (labels: Record<string, string>) => Object.values(labels).join(' ')

  return {
    targets,
    scrapesAll: () =>
      eventually(async () => {
        const all = await targets()
        return (all.length > 0 && all.every(({ health }) => health === 'up')) || undefined
      }, 'every target to be scraped'),
    fires: (labels: Record<string, string>, timeoutMs = 90_000) =>
      eventually(() => firing(labels).then((is) => is || undefined), `${named(labels)} to fire`, timeoutMs),
    resolves: (labels: Record<string, string>) =>
      eventually(() => firing(labels).then((is) => !is || undefined), `${named(labels)} to be over`, 150_000),
    alerts: async () => {
      const { alerts } = await ask<{ alerts: Alert[] }>('alerts')
      return [...new Set(alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname))]
    },
    query,
    /** Waits until the sum of counters is at least `least`. */
    hasSeen: (counters: string, least: number) =>
      eventually(
        async () => (await query(`sum(${counters})`)).some(({ value }) => value >= least) || undefined,
        `${least} of ${counters}`,
      ),
    metadata: () => ask<Record<string, { type: string; help: string }[]>>('metadata'),
  }
}

export type PrometheusApi = ReturnType<typeof prometheusAt>

/** Shorter values for the windows and waiting times in components/observe/alerts.yml, in the order of that file. */
const shorter: Record<string, string> = {
  '30s': '2s',
  '1m': '3s',
  '5m': '10s',
  '30m': '15s',
  '1h': '20s',
  '6h': '25s',
  '3d': '30s',
}

export function shortened(rules: string): string {
  const short = (span: string) => shorter[span] ?? fail(span)
  return rules
    .replaceAll(/\[(\w+)\]/g, (_, span: string) => `[${short(span)}]`)
    .replaceAll(/(?<=^ +for: )\w+$/gm, (span) => short(span))
}

function fail(span: string): never {
  throw new Error(`no shorter value for ${span}`)
}

export function metricsIn(expressions: string): string[] {
  const withoutLabels = expressions.replaceAll(/\bby \([^)]*\)/g, '')
  const names = withoutLabels.match(/\b(orderflow_\w+|http_server_\w+|nodejs_\w+|process_\w+|dapr_\w+)\b/g) ?? []
  return [...new Set(names)]
}
