import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { ServiceDefinition } from '@orderflow/service-kit'
import type { ScenarioRecord } from './memory-service.ts'
import { scenario } from './scenario.ts'

/** A record of a log as a file. The monitor writes such files (“Save as fixture”). */
export interface FixtureFile {
  description: string
  topic: string
  /** Missing for a record without a key. */
  key?: string
  /** The event, or its bytes in Base64 if it is not JSON. */
  envelope?: object
  valueBase64?: string
  /** The reason for which the service rejects the event; missing if the service handles it. */
  reason?: string
}

/** Reads a record from a fixture, as a step of a scenario. @throws {Error} for a file that is not a fixture */
export function fixture(file: URL): ScenarioRecord {
  const { topic, key, envelope, valueBase64 } = readFixture(file)
  const value = valueBase64 === undefined ? Buffer.from(JSON.stringify(envelope)) : Buffer.from(valueBase64, 'base64')
  return { topic, key, value }
}

/**
 * Declares a test for each fixture in a folder: the service handles the event, or rejects it for the reason in the file. A missing folder has no
 * fixtures.
 */
export function fixtures<S extends object>(service: ServiceDefinition<S>, folder: URL): void {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : []
  for (const name of names) {
    const file = new URL(name, folder)
    const { description, reason } = readFixture(file)
    const title = reason ? `rejects the fixture ${name} as ${reason}` : `handles the fixture ${name}`
    it(`${title}: ${description}`, () =>
      scenario(service)
        .when(fixture(file))
        .then({ rejected: reason ? [reason] : [] }))
  }
}

function readFixture(file: URL): FixtureFile {
  const content = JSON.parse(readFileSync(file, 'utf8')) as FixtureFile
  const { topic, envelope, valueBase64 } = content
  if (typeof topic === 'string' && (envelope ?? valueBase64) !== undefined) return content
  throw new Error(`${fileURLToPath(file)} is not a fixture: it needs \`topic\`, and \`envelope\` or \`valueBase64\``)
}
