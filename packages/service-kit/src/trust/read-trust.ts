import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { eventNames, parseMoment } from '@orderflow/envelope'
import { Ajv, type ErrorObject } from 'ajv'
import { createSigner, createTrust, outsideRefusals, type Publishers, type Trust, type TrustFile } from './trust.ts'

/** The settings of section `Trust`, which runtime/settings/sections.ts describes. */
export type TrustSettings = Record<'File' | 'Publishers' | 'SigningKeys' | 'SignedSince', string>

/**
 * Reads the rights of publishers. A change of the files takes effect only after a restart.
 * @param root the service's folder
 * @throws {TrustFileError} if the trust file is unreadable or invalid
 */
export function readTrust(root: URL, { File, Publishers: generated, SigningKeys, SignedSince }: TrustSettings): Trust {
  const publishers = readPublishers(root, generated)
  const keys = SigningKeys.split(',').filter(Boolean)
  return createTrust({
    publishers,
    file: readTrustFile(fileAt(root, File), publishers),
    signer: keys.length > 0 ? createSigner(keys) : undefined,
    signedSince: SignedSince ? Number(parseMoment(SignedSince)) : Number.NEGATIVE_INFINITY,
  })
}

/** The kind of a publisher: one of our services, an application that trust.json lists, or any other application. */
export type Listing = 'service' | 'listed' | 'unlisted'

/**
 * Returns a function that returns the kind of publisher for an AppId. The kind is for display only, because `Trust` decides which events are accepted.
 * @param root the service's folder
 */
export function readListing(
  root: URL,
  { File, Publishers: generated }: TrustSettings,
): (appId: string | null) => Listing {
  const publishers = readPublishers(root, generated)
  const idsOf = (entries: object) => new Set(Object.keys(entries).map((id) => id.toLowerCase()))
  const services = idsOf(publishers.services)
  const listed = idsOf(readTrustFile(fileAt(root, File), publishers).publishers)
  return (appId) =>
    appId === null ? 'unlisted' : services.has(appId) ? 'service' : listed.has(appId) ? 'listed' : 'unlisted'
}

/** Returns the URL of a path, which may contain characters that have a meaning in URLs. */
const fileAt = (root: URL, path: string) => pathToFileURL(resolve(fileURLToPath(root), path))

function readPublishers(root: URL, generated: string): Publishers {
  const file = fileAt(root, generated)
  const publishers = JSON.parse(readFileSync(file, 'utf8')) as Publishers
  if (!Array.isArray(publishers.outside)) return publishers
  throw new Error(`${fileURLToPath(file)} has an outdated form: run make generate`)
}

const schema = JSON.parse(readFileSync(new URL('trust.schema.json', import.meta.url), 'utf8')) as object
// A test validates the schema, so Ajv need not validate it here.
const validate = new Ajv({ allErrors: true, validateSchema: false }).compile<TrustFile>(schema)

/** Thrown if the trust file is unreadable or invalid. Each text of `problems` begins with the setting `Trust__File`. */
export class TrustFileError extends Error {
  readonly code = 'trust-file'
  readonly problems: string[]
  constructor(file: URL, problems: string[]) {
    super(`trust is not usable (${fileURLToPath(file)}):\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
    this.name = 'TrustFileError'
    this.problems = problems.map((problem) => `Trust__File: ${problem}`)
  }
}

/**
 * @param publishers the events of our own services, which trust.json cannot change
 * @throws {TrustFileError}
 */
export function readTrustFile(file: URL, publishers: Publishers): TrustFile {
  const content = read(file)
  const problems = validate(content) ? [...problemsOf(content, publishers)] : (validate.errors ?? []).flatMap(describe)
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

function* problemsOf({ publishers: listed }: TrustFile, publishers: Publishers): Generator<string> {
  const { services } = publishers
  const outside = outsideRefusals(publishers)
  const names = new Map(Object.entries(services).map(([id, { name }]) => [id.toLowerCase(), name]))
  const events = new Set<string>(eventNames)
  const seen = new Set<string>()
  for (const [id, { name, topics }] of Object.entries(listed)) {
    const at = `/publishers/${id}`
    const own = names.get(id.toLowerCase())
    const isTwice = seen.size === seen.add(id.toLowerCase()).size
    if (own) yield `${at}: is ${own}, one of our own services; declare its events in services.json`
    if (isTwice) yield `${at}: is listed twice`
    if ([...names.values()].includes(name) && !own) yield `${at}/name: is the name of one of our services`
    for (const [topic, said] of Object.entries(topics)) {
      const refusals = outside.get(topic)
      if (!refusals)
        yield `${at}/topics/${topic}: outside applications may not write this topic; services.json allows (outside): ${[...outside.keys()].join(', ')}`
      else
        for (const event of said) {
          const refusal = refusals.get(event)
          if (!events.has(event))
            yield `${at}/topics/${topic}: unknown event ${event}; use one of ${[...events].join(', ')}`
          else if (refusal !== undefined) yield `${at}/topics/${topic}: ${event} ${refusal}`
        }
    }
  }
}

function describe({ keyword, instancePath, params, message, propertyName }: ErrorObject): string[] {
  // The keyword `propertyNames` already reports an invalid name.
  if (propertyName !== undefined) return []
  if (keyword === 'propertyNames') return [`${instancePath}/${params.propertyName}: is not an AppId, which is a GUID`]
  if (keyword === 'additionalProperties') return [`${instancePath}/${params.additionalProperty}: no such field`]
  if (keyword === 'required') return [`${instancePath}/${params.missingProperty}: is missing`]
  if (keyword === 'enum') return [`${instancePath}: must be one of ${params.allowedValues.join(', ')}`]
  return [`${instancePath || 'the file'}: ${message}`]
}
