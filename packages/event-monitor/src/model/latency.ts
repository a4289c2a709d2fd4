import type { HealthView } from '../api/system.ts'

/** How long reactions took, of those that were seen in the last minute. */
export class Latencies {
  readonly #seen = new Map<string, { at: number; ms: number }[]>()

  add(reaction: string, ms: number, at: number): void {
    const list = this.#seen.get(reaction) ?? []
    this.#seen.set(reaction, list)
    list.push({ at, ms })
    if (list.length > 5_000) list.splice(0, list.length - 5_000)
  }

  view(now: number): HealthView['latency'] {
    return [...this.#seen].flatMap(([reaction, list]) => {
      const times = list
        .filter(({ at }) => at > now - 60_000)
        .map(({ ms }) => ms)
        .sort((one, other) => one - other)
      const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
      return times.length > 0 ? [{ reaction, p50: at(0.5), p95: at(0.95), count: times.length }] : []
    })
  }
}
