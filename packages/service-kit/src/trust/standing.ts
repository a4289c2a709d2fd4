import { readFileSync } from 'node:fs'
import type { TrustSettings } from './read-trust.ts'
import type { Publishers } from './trust.ts'
import { readTrustFile } from './trust-file.ts'

/** How a publisher stands: a service of ours, one that trust.json lists, or neither. */
export type Standing = 'service' | 'listed' | 'unlisted'

/**
 * Says of an AppId, in lower case, how it stands. For whoever shows it: what is believed of it, `Trust` says.
 * @param root the service's folder
 */
export function readStanding(
  root: URL,
  { File, Publishers: generated }: TrustSettings,
): (appId: string | null) => Standing {
  const publishers = JSON.parse(readFileSync(new URL(generated, root), 'utf8')) as Publishers
  const idsOf = (entries: object) => new Set(Object.keys(entries).map((id) => id.toLowerCase()))
  const [services, listed] = [
    idsOf(publishers.services),
    idsOf(readTrustFile(new URL(File, root), publishers).publishers),
  ]
  return (appId) =>
    appId === null ? 'unlisted' : services.has(appId) ? 'service' : listed.has(appId) ? 'listed' : 'unlisted'
}
