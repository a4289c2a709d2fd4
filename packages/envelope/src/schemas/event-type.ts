import type { ReceivedEnvelope } from './types.ts'

type Typed = Pick<ReceivedEnvelope, 'Name' | 'Version'>
/** Of each member of a union by itself. */
type TypeOf<E extends Typed> = E extends unknown ? `${E['Name']}@${E['Version']}` : never

/** What an envelope says that it holds, as `Name@Version`; whether there is such an event type is another question. */
export function typeOf<E extends Typed>({ Name, Version }: E): TypeOf<E> {
  return `${Name}@${Version}` as TypeOf<E>
}

/** The Name and Version in an event type. */
export function partsOf(type: string): Pick<ReceivedEnvelope, 'Name' | 'Version'> {
  const [Name = '', version] = type.split('@')
  return { Name, Version: Number(version) }
}

/** The versions in a list of event types, by name, in ascending order. A Map, since a Name may be `__proto__`. */
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
