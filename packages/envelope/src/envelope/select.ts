import { versionsByName } from '../schemas/event-type.ts'
import { knownVersions } from '../schemas/schemas.ts'
import type { EventOf, EventType, ReceivedEnvelope } from '../schemas/types.ts'
import { payloadFault, unknownEvent, unknownVersion } from '../validation/check.ts'
import { refuse } from '../validation/error.ts'
import { nearMissIn } from '../validation/near-miss.ts'
import { withLowerCasePayload } from './guids.ts'

interface Selection {
  versions: ReadonlyMap<string, readonly number[]>
  nearMiss: (name: string) => string | undefined
}

/** What follows from a receiver's list of types, worked out once for each list and dropped together with it. */
const selections = new WeakMap<readonly EventType[], Selection>()

function selectionOf(types: readonly EventType[]): Selection {
  const found = selections.get(types)
  if (found) return found
  const versions = versionsByName(types)
  const selection = { versions, nearMiss: nearMissIn(versions.keys()) }
  selections.set(types, selection)
  return selection
}

/**
 * What a receiver makes of an event of which it handles the given types and no other: the event with its Payload
 * validated by the schema of its type and the Payload's GUIDs lower-cased, or undefined, which is an event of somebody
 * else. A handled name in a version that is not handled is refused, whichever schemas there are, and so is a name
 * without a schema that was probably meant to be a handled one: both would be lost if they passed as somebody else's.
 * @param types a list that does not change; give the same one for each event
 * @throws {EnvelopeError} `invalid-payload`, `unknown-version` or `unknown-event`
 */
export function selectEvent<T extends EventType>(
  envelope: ReceivedEnvelope,
  types: readonly T[],
): EventOf<T> | undefined {
  const { Name, Version } = envelope
  const { versions, nearMiss } = selectionOf(types)
  const handled = versions.get(Name)
  if (handled) {
    refuse(handled.includes(Version) ? payloadFault(envelope) : unknownVersion('handled', Name, handled))
    return withLowerCasePayload(envelope) as EventOf<T>
  }
  const meant = knownVersions.has(Name) ? undefined : nearMiss(Name)
  refuse(meant ? unknownEvent(`write ${meant}`) : undefined)
  return undefined
}
