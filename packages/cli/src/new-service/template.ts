import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type HeardEvent, heardNames } from './event.ts'
import { type Names, namesOf } from './names.ts'
import type { NewPorts } from './registry.ts'

/**
 * A whole service, which is checked and linted as it stands: of spare parts, so that no word in it means anything else. It names an event only
 * where the event of the new service takes its place (placeholders.json).
 */
const folder = fileURLToPath(new URL('template', import.meta.url))

/**
 * The files of a new service, by their path in its folder. What they are called decides where the formatter breaks lines and how it
 * sorts imports, so they want to be formatted.
 * @throws {StackError} `usage` when the name will not do
 */
export function serviceFiles(name: string, ports: NewPorts, event: HeardEvent): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => [file.slice(folder.length + 1), readFileSync(file, 'utf8')] as const)
  const own = namesOf(name, files.map(([, text]) => text).join('\n'))
  const names = new Map([...own, ...heardNames(event)])
  return new Map(files.map(([path, text]) => [renamed(path, names), renamed(settled(path, text, ports), names)]))
}

function renamed(text: string, names: Names): string {
  const placeholders = [...names.keys()].sort((a, b) => b.length - a.length)
  return text.replaceAll(
    new RegExp(placeholders.join('|'), 'g'),
    (placeholder) => names.get(placeholder) ?? placeholder,
  )
}

/** The settings have an id and ports that nobody else has; in the template they are these. */
function settled(path: string, text: string, ports: NewPorts): string {
  if (path !== 'appsettings.json') return text
  const { http, https, channel, metrics, daprHttp, daprGrpc } = ports
  const numbers = { 60001: http, 60002: https, 60003: channel, 60004: daprHttp, 60005: daprGrpc, 60006: metrics }
  return text
    .replace('00000000-0000-4000-8000-000000000000', randomUUID())
    .replaceAll(/6000[1-6]/g, (number) => String(numbers[number as unknown as keyof typeof numbers]))
}
