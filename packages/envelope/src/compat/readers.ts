import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StateError } from './states.ts'

/** A field of a Payload that a service reads. `/*` in the pointer means the items of a list. */
export interface Reader {
  service: string
  /** `Name@Version`. */
  type: string
  pointer: string
}

/** The file of a service with the fields that it reads, as pointers by event type. The service's tests write it. */
const readsFile = 'test/reads.json'

interface Readers {
  readers: Reader[]
  /** The services that consume events, but have no `test/reads.json`. */
  unknown: string[]
}

interface Declared {
  services: Record<string, { package?: string; consumes: object }>
}

/**
 * Returns the fields that the services of an application read. Returns undefined for a folder without services.json. The package for outside
 * publishers is such a folder.
 * @throws {StateError} for a file that is not JSON
 */
export function readersIn(application: string): Readers | undefined {
  const declared = join(application, 'services.json')
  if (!existsSync(declared)) return undefined
  const { services } = JSON.parse(readFileSync(declared, 'utf8')) as Declared
  const all = Object.entries(services).map(([service, { package: folder = service, consumes }]) => {
    const file = join(application, folder, readsFile)
    const readers = existsSync(file) ? readersOfService(service, file) : undefined
    return { service, readers, isUnknown: !readers && Object.keys(consumes).length > 0 }
  })
  return {
    readers: all.flatMap(({ readers = [] }) => readers),
    unknown: all.filter(({ isUnknown }) => isUnknown).map(({ service }) => service),
  }
}

function readersOfService(service: string, file: string): Reader[] {
  try {
    const reads = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string[]>
    return Object.entries(reads).flatMap(([type, pointers]) => pointers.map((pointer) => ({ service, type, pointer })))
  } catch {
    throw new StateError(`${file} is not JSON: delete it, and run the tests of ${service}, which write it again`)
  }
}

/**
 * Returns the readers of a field, or of a field inside it. A reader of a list also reads its items, because the tests record only the list if its items
 * have no fields.
 */
export function readersOf(readers: readonly Reader[], types: readonly string[], pointer: string): Reader[] {
  const list = pointer.replace(/(\/\*)+$/, '')
  return readers.filter(
    (each) =>
      types.includes(each.type) &&
      (each.pointer === pointer || each.pointer === list || each.pointer.startsWith(`${pointer}/`)),
  )
}
