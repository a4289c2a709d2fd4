import { readFileSync } from 'node:fs'
import { eventTypes } from '@orderflow/envelope-schema'
import { Ajv, type ErrorObject } from 'ajv'
import type { Publishers, TrustFile } from './trust.ts'

const schema = JSON.parse(readFileSync(new URL('trust.schema.json', import.meta.url), 'utf8')) as object
// Not held against its meta-schema at each start: a test does that.
const validate = new Ajv({ allErrors: true, validateSchema: false }).compile<TrustFile>(schema)

/** The file cannot be read, or says what cannot be. `problems` has a line for each, beginning with the setting that names the file. */
export class TrustFileError extends Error {
  readonly code = 'trust-file'
  readonly problems: string[]
  constructor(file: URL, problems: string[]) {
    super(`trust is not usable (${file.pathname}):\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
    this.name = 'TrustFileError'
    this.problems = problems.map((problem) => `Trust__File: ${problem}`)
  }
}

/**
 * Reads what applications outside may say.
 * @param publishers what our own services say, which the file cannot change
 * @throws {TrustFileError}
 */
export function readTrustFile(file: URL, publishers: Publishers): TrustFile {
  const content = read(file)
  const problems = validate(content) ? problemsOf(content, publishers) : (validate.errors ?? []).flatMap(describe)
  if (problems.length === 0) return content as TrustFile
  throw new TrustFileError(file, problems)
}

function read(file: URL): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new TrustFileError(file, [`cannot be read: ${(error as Error).message}`])
  }
}

/** What no schema can know: which services, topics and events there are. */
function problemsOf({ publishers: listed }: TrustFile, { services, outside }: Publishers): string[] {
  const names = new Map(Object.entries(services).map(([id, { name }]) => [id.toLowerCase(), name]))
  const events = new Set(eventTypes.map((type) => type.split('@')[0]))
  const seen = new Set<string>()
  return Object.entries(listed).flatMap(([id, { name, topics }]) => {
    const at = `/publishers/${id}`
    const own = names.get(id.toLowerCase())
    const isTwice = seen.size === seen.add(id.toLowerCase()).size
    return [
      ...(own ? [`${at}: is ${own}; what our own services publish stands in services.json`] : []),
      ...(isTwice ? [`${at}: is listed twice`] : []),
      ...([...names.values()].includes(name) && !own ? [`${at}/name: is that of a service of ours`] : []),
      ...Object.entries(topics).flatMap(([topic, said]) =>
        outside.includes(topic)
          ? said
              .filter((event) => !events.has(event))
              .map((event) => `${at}/topics/${topic}: ${event} is no event; there are ${[...events].join(', ')}`)
          : [`${at}/topics/${topic}: is not for others to write (outside, in services.json): ${outside.join(', ')}`],
      ),
    ]
  })
}

function describe({ keyword, instancePath, params, message, propertyName }: ErrorObject): string[] {
  // Of a property's name: told by its object.
  if (propertyName !== undefined) return []
  if (keyword === 'propertyNames') return [`${instancePath}/${params.propertyName}: is no AppId, which is a GUID`]
  if (keyword === 'additionalProperties') return [`${instancePath}/${params.additionalProperty}: no such field`]
  if (keyword === 'required') return [`${instancePath}/${params.missingProperty}: is missing`]
  if (keyword === 'enum') return [`${instancePath}: must be one of ${params.allowedValues.join(', ')}`]
  return [`${instancePath || 'the file'}: ${message}`]
}
