import { isLoopback } from '../auth/auth-settings.ts'
import type { Limits } from '../web/limits/rate-limits.ts'
import type { BaseSettings } from './settings.ts'

/** The limits of senders; none on loopback, where only this machine's own programs are, such as a benchmark. */
export function limitsOf({ Web: web, Limits: limits }: Pick<BaseSettings, 'Web' | 'Limits'>): Limits | undefined {
  return isLoopback(web.Host) ? undefined : limits
}
