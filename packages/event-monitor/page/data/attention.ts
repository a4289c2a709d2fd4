import { signal } from '@preact/signals'
import { type DeadLetterGroups, type HealthView, type MissingReactions, paths } from '../../src/api/index.ts'
import { troubles } from '../lib/health-words.ts'
import { refusal } from './access.ts'
import { get } from './api.ts'

/** How much there is to look at, by the path of the view that shows it. */
export const attention = signal<Record<string, number>>({})

const everyMs = 15_000

/** Asks now and then, while the tab is looked at: who looks at one view learns what broke in another. */
export async function payAttention(): Promise<void> {
  if (!document.hidden && !refusal.value) {
    const [dead, missing, health] = await Promise.allSettled([
      get<DeadLetterGroups>(paths.deadLetters),
      get<MissingReactions>(`${paths.missing}?limit=1`),
      get<HealthView>(paths.health),
    ])
    attention.value = {
      '/dead': dead.status === 'fulfilled' ? dead.value.open : 0,
      '/missing': missing.status === 'fulfilled' ? missing.value.total : 0,
      '/health': health.status === 'fulfilled' ? troubles(health.value).length : 0,
    }
  }
  setTimeout(payAttention, everyMs)
}
