import { fileURLToPath } from 'node:url'
import { applicationFile } from '../../application/file.ts'
import { readApplication, type SharedSettings } from '../../application/index.ts'
import type { Section } from './sections.ts'

type Schemas = Readonly<Record<string, Section>>
type Values = Record<string, Record<string, unknown>>

/** Returns the place of a setting in services.json if several services share it. */
export function sharedPlace(schemas: Schemas, section: string, name = ''): string | undefined {
  if (!Object.hasOwn(schemas, section)) return undefined
  return schemas[section]?.properties[name]?.shared && `${section}.${name} in "settings" of services.json`
}

/**
 * Sets the shared settings to their values in services.json. Returns a problem for each one that a variable or appsettings.json sets to another
 * value, because this service would then not agree with the others.
 * @param values the values of appsettings.json and of variables
 * @param folder the folder of the service
 * @throws {ApplicationError} if services.json is missing or invalid
 */
export function setShared(values: Values, schemas: Schemas, folder: URL): string[] {
  const shared = Object.entries(schemas).flatMap(([section, { properties }]) =>
    Object.keys(properties).flatMap((name) => (properties[name]?.shared ? [{ section, name }] : [])),
  )
  // Only services with shared settings need the file.
  if (shared.length === 0) return []
  const declared = readApplication(applicationFile(fileURLToPath(folder))).settings
  const conflicts = shared.flatMap(({ section, name }) => {
    const [value, own] = [declared[section]?.[name], values[section]?.[name]]
    values[section] = { ...values[section], [name]: value }
    if (value === undefined || own === undefined || own === value) return []
    return [
      `${section}__${name}: "settings" of services.json has another value, ${value}, for all services; remove this variable, and ${section}.${name} of appsettings.json`,
    ]
  })
  return [...conflicts, ...misplaced(declared, schemas)]
}

/** Returns a problem for each value in services.json of a setting that this service does not share. */
function misplaced(declared: SharedSettings, schemas: Schemas): string[] {
  return Object.entries(declared).flatMap(([section, values]) => {
    if (!Object.hasOwn(schemas, section)) return []
    const wrong = Object.keys(values).filter((name) => !sharedPlace(schemas, section, name))
    return wrong.map(
      (name) =>
        `${section}.${name} in "settings" of services.json: is no shared setting; remove it, and set ${section}__${name}`,
    )
  })
}
