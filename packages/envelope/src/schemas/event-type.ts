import type { ReceivedEnvelope } from './types.ts'

type Typed = Pick<ReceivedEnvelope, 'Name' | 'Version'>
/** Distributes over the members of a union. */
type TypeOf<E extends Typed> = E extends unknown ? `${E['Name']}@${E['Version']}` : never

/** Returns the event type that an envelope names, as `Name@Version`. It may have no schema. */
export function typeOf<E extends Typed>({ Name, Version }: E): TypeOf<E> {
  return `${Name}@${Version}` as TypeOf<E>
}

/** Returns the Name and Version of an event type. */
export function partsOf(type: string): Pick<ReceivedEnvelope, 'Name' | 'Version'> {
  const [Name = '', version] = type.split('@')
  return { Name, Version: Number(version) }
}

/** Returns the versions in a list of event types, by name, in ascending order. A Map, because a Name may be `__proto__`. */
export function versionsByName(types: Iterable<string>): Map<string, number[]> {
  const byName = new Map<string, number[]>()
  for (const { Name, Version } of Array.from(types, partsOf)) {
    byName.set(
      Name,
      [...(byName.get(Name) ?? []), Version].sort((one, other) => one - other),
    )
  }
  return byName
}
