import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { guidPattern } from '@orderflow/envelope'
import { baseSections, otherNames } from '@orderflow/service-kit'
import { isSecretName } from '@orderflow/service-kit/setup'
import { repository } from '@orderflow/stack/base'
import type { TestedService } from '@orderflow/test-kit'
import type { Page } from '../pages.ts'
import { code, referencePage, section } from './markdown.ts'

/** The keywords of a setting's schema. */
interface Setting {
  description?: string
  type?: string
  enum?: unknown[]
  minimum?: number
  maximum?: number
  shared?: boolean
}

/** Returns the page of all settings: those of every service, and then the services' own ones. */
export function settingsPage(services: readonly TestedService[]): Page {
  const tables = [
    ...Object.entries(baseSections).map(([name, each]) => settingsTable(name, name, each, services)),
    ...services.flatMap((service) =>
      Object.entries(service.definition.sections ?? {}).map(([name, each]) =>
        settingsTable(`${name} of ${service.name}`, name, each as { properties: object }, [service]),
      ),
    ),
  ]
  return referencePage(
    'settings',
    'Settings',
    'All settings of the services: environment variables, types, defaults and meaning',
    'the schemas of settings in the code of the services, and their `appsettings.json`',
    `${introduction}\n\n${tables.join('')}`,
  )
}

const introduction = `A setting is a value in the file \`appsettings.json\` of a service. An environment variable with the name in the table replaces this value. A service
refuses to start if a setting is missing, unknown or invalid, and names the variable to change. If several services share a setting, \`services.json\` has its value, and
a variable cannot replace it.

[Access](../access.md), [trust](../trust.md), [stores](../stores.md) and [observability](../observability.md#your-own-collector) describe how to use these settings.
Variables for traces begin with \`OTEL_\`.`

function settingsTable(
  title: string,
  part: string,
  { properties }: { properties: object },
  services: readonly TestedService[],
) {
  const rows = Object.entries(properties as Record<string, Setting>).map(([name, setting]) => {
    const variable = `${part}__${name}`
    const other = otherNames[variable] && `Another variable for it is \`${otherNames[variable]}\`.`
    const origin = setting.shared ? '`settings` in `services.json`' : defaultText(services, part, name)
    const meaning = [setting.description, other, isSecretName(name) && 'Secret.'].filter(Boolean).join(' ')
    return [code(variable), typeText(setting), origin, meaning]
  })
  return section(title, ['Setting', 'Type', 'Default', 'Meaning'], rows)
}

function typeText({ enum: values, type = 'any value', minimum, maximum }: Setting): string {
  if (values) return values.map((value) => code(JSON.stringify(value))).join(', ')
  const range = minimum === undefined ? '' : maximum === undefined ? `, from ${minimum}` : `, ${minimum} to ${maximum}`
  return `${type.replace('string', 'text')}${range}`
}

/** Returns the default, or the default of each service if they differ. */
function defaultText(services: readonly TestedService[], part: string, name: string): string {
  const values = services.map((service) => {
    const defaults = JSON.parse(readFileSync(join(repository, service.folder, 'appsettings.json'), 'utf8'))
    return { service: service.name, text: valueText(defaults[part]?.[name]) }
  })
  const isSame = values.every(({ text }) => text === values[0]?.text)
  return isSame ? (values[0]?.text ?? '') : values.map(({ service, text }) => `${service}: ${text}`).join('<br>')
}

function valueText(value: unknown): string {
  if (value === undefined) return 'none; required'
  if (new RegExp(guidPattern).test(String(value))) return 'a GUID'
  return value === '' ? 'empty' : code(String(value).replaceAll(',', ', '))
}
