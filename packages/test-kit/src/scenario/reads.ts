import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type FullEvent, typeOf } from '@orderflow/envelope'
import {
  type AllParts,
  type Reactions,
  type ServiceContext,
  type ServiceDefinition,
  watched,
  withEntities,
} from '@orderflow/service-kit'
import { jsonWithShortLists } from '@orderflow/stack/base'

/** The JSON pointers of the Payload fields that a service reads, by event type (`Name@Version`). */
export type Reads = Map<string, Set<string>>

/** The file of a service with the fields that it reads. `envelope compat` names the services that a change of a schema breaks. */
export const readsFile = 'test/reads.json'

/**
 * Returns a service whose reactions add the fields that they read to `reads`.
 * @param onCreated receives the parts of the service, and their context
 */
export function definitionWatched<S extends object>(
  definition: ServiceDefinition<S>,
  reads: Reads,
  onCreated: (parts: AllParts, context: ServiceContext<S>) => void,
): ServiceDefinition<S> {
  return {
    ...definition,
    create(context) {
      const parts = withEntities(definition.create(context))
      onCreated(parts, context)
      return { ...parts, reactions: reactionsWatched(parts.reactions, reads) }
    },
  }
}

function reactionsWatched(reactions: Reactions, reads: Reads): Reactions {
  const topics = Object.entries(reactions).map(([topic, handlers]) => {
    const watched = Object.entries(handlers).map(([name, handle]) => [
      name,
      (event: FullEvent) => (handle as (event: object) => Promise<unknown>)(eventWatched(event, reads)),
    ])
    return [topic, Object.fromEntries(watched)]
  })
  return Object.fromEntries(topics)
}

function eventWatched(event: FullEvent, reads: Reads): object {
  const type = typeOf(event)
  const fields = reads.get(type) ?? new Set()
  reads.set(type, fields)
  return { ...event, Payload: watched(event.Payload, '', (pointer) => fields.add(pointer)) }
}

/**
 * Adds new fields to the file in a service's folder. On a CI server (variable `CI`) it throws instead.
 * @throws {Error} names the missing fields
 */
export function keepReads(root: URL, reads: Reads, env: NodeJS.ProcessEnv = process.env): void {
  const file = fileURLToPath(new URL(readsFile, root))
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string[]>) : {}
  const missing = [...reads].flatMap(([type, fields]) =>
    [...fields].filter((field) => !kept[type]?.includes(field)).map((field) => ({ type, field })),
  )
  if (missing.length === 0) return
  if (env.CI) {
    const list = missing.map(({ type, field }) => `${field} of ${type}`).join(', ')
    throw new Error(
      `${file} lacks fields that the service reads: ${list}. Run the test without CI=1, and commit the file`,
    )
  }
  for (const [type, fields] of reads) {
    const all = new Set([...(kept[type] ?? []), ...fields])
    kept[type] = [...all].toSorted()
  }
  const sorted = Object.entries(kept).toSorted(([a], [b]) => (a < b ? -1 : 1))
  // Test files run in parallel, so a reader must never see a half-written file.
  writeFileSync(`${file}.${process.pid}`, `${jsonWithShortLists(Object.fromEntries(sorted))}\n`)
  renameSync(`${file}.${process.pid}`, file)
}
