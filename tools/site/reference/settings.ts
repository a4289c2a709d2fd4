import { guidPattern } from '@orderflow/envelope'
import { isSecretName } from '@orderflow/service-kit/secret-names'
import { baseSections, otherNames } from '@orderflow/service-kit/settings'
import type { TestedService } from '@orderflow/test-kit'
import { code, type Generated, type Schema, table, typeText } from './markdown.ts'

/** The values of appsettings.json, by section and name. */
export type Defaults = Record<string, Record<string, unknown>>

export interface ServiceSettings {
  name: string
  sections: Record<string, { properties: Record<string, Schema> }>
  defaults: Defaults
}

/** Returns the page of all settings: those of every service, and then the services' own ones. */
export function settingsPage(services: readonly ServiceSettings[]): Generated {
  const common = Object.entries(baseSections).map(([section, { properties }]) =>
    sectionText(section, properties as Record<string, Schema>, services),
  )
  const own = services.flatMap((service) =>
    Object.entries(service.sections).map(([section, { properties }]) =>
      sectionText(section, properties, [service], `${section} of ${service.name}`),
    ),
  )
  return {
    name: 'settings',
    title: 'Settings',
    description: 'All settings of the services: environment variables, types, defaults and meaning',
    origin: 'the schemas of settings in the code of the services, and their `appsettings.json`',
    body: `${introduction}\n\n${[...common, ...own].join('')}`,
  }
}

const introduction = `A setting is a value in the file \`appsettings.json\` of a service. An environment variable with the name in the table replaces this value. A service
refuses to start if a setting is missing, unknown or invalid, and names the variable to change. If several services share a setting, \`services.json\` has its value, and
a variable cannot replace it.

[Access](../access.md), [trust](../trust.md), [stores](../stores.md) and [observability](../observability.md#your-own-collector) describe how to use these settings.
Variables for traces begin with \`OTEL_\`.`

function sectionText(
  section: string,
  properties: Record<string, Schema>,
  services: readonly ServiceSettings[],
  title = section,
): string {
  const rows = Object.entries(properties).map(([name, schema]) => {
    const variable = `${section}__${name}`
    const other = otherNames[variable]
    return [
      code(variable),
      typeText(schema),
      schema.shared ? '`settings` in `services.json`' : defaultText(services, section, name),
      [schema.description, other && `Another variable for it is \`${other}\`.`, isSecretName(name) && 'Secret.']
        .filter(Boolean)
        .join(' '),
    ]
  })
  return `## ${title}\n\n${table(['Setting', 'Type', 'Default', 'Meaning'], rows)}`
}

/** Returns the default, or the default of each service if they differ. */
function defaultText(services: readonly ServiceSettings[], section: string, name: string): string {
  const values = services.map((service) => ({ name: service.name, text: valueText(service.defaults[section]?.[name]) }))
  const all = new Set(values.map(({ text }) => text))
  const [text = ''] = all
  return all.size === 1 ? text : values.map((each) => `${each.name}: ${each.text}`).join('<br>')
}

function valueText(value: unknown): string {
  if (value === undefined) return 'none; required'
  if (new RegExp(guidPattern).test(String(value))) return 'a GUID'
  return value === '' ? 'empty' : code(String(value).replaceAll(',', ', '))
}

/** Returns the settings of a service. */
export const settingsOf = (
  { name, definition }: Pick<TestedService, 'name' | 'definition'>,
  defaults: Defaults,
): ServiceSettings => ({
  name,
  sections: definition.sections ?? {},
  defaults,
})
