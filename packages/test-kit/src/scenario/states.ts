import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { noTenant } from '@orderflow/envelope'
import type { ServiceDefinition } from '@orderflow/service-kit'
import { contentOf } from '@orderflow/service-kit/operations'
import { jsonWithShortLists } from '@orderflow/stack/base'
import type { Documents } from '../domain-documents.ts'
import { same } from './expected.ts'
import { type MemoryService, memoryServices } from './memory-service.ts'
import { run } from './scenario.ts'
import type { Step } from './steps.ts'

/** The folder of a service with documents of its entities. The name of a file has the entity, and the number of its `upcast` functions. */
export const statesFolder = 'test/states/'

/** Documents as a release stored them, and the log from which they follow. */
interface Example {
  log: { topic: string; key?: string | undefined; timestamp: number; value: object }[]
  documents: Documents
}

/** The documents of a form, by a name for their states. */
type States = Record<string, Example>

/**
 * Reads the documents in `test/states` with the present code, and compares them with a rebuild from their log. Then adds a file for a
 * new form, and missing examples. On a CI server (variable `CI`), it adds only the first file.
 * @param examples the steps that lead to documents, by a name for their states
 * @throws {Error} names the file whose states are read wrongly, or that lacks examples
 */
export async function keepStates<S extends object>(
  service: ServiceDefinition<S>,
  examples: Record<string, readonly Step[]>,
  env: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  const start = memoryServices(service, {}, new Map())
  const folder = new URL(statesFolder, service.root)
  const names = existsSync(folder) ? readdirSync(folder) : []
  const files = new Map(names.map((file) => [file, JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as States]))
  for (const [file, states] of files)
    for (const [name, example] of Object.entries(states)) await check(start, example, wrong(file, name))
  for (const [file, states] of await presentStates(start, examples)) {
    const kept = files.get(file) ?? {}
    const missing = Object.keys(states).filter((name) => !(name in kept))
    if (missing.length === 0) continue
    if (env.CI && files.size > 0)
      throw new Error(
        `${statesFolder}${file} lacks ${missing.join(', ')}. Run the test without CI=1, and commit the file`,
      )
    mkdirSync(folder, { recursive: true })
    writeFileSync(new URL(file, folder), `${jsonWithShortLists({ ...states, ...kept })}\n`)
  }
}

const wrong = (file: string, name: string) =>
  `the present code reads a state of ${statesFolder}${file} (“${name}”) otherwise than it rebuilds it from the log. If a release has stored such ` +
  'states, add a function to `upcast` of the entity, or rebuild the store in the upgrade. If no release has, or the store is rebuilt, delete the file ' +
  'and run the test again'

/** @throws {DifferenceError} */
async function check(start: () => MemoryService, { log, documents }: Example, message: string): Promise<void> {
  const memory = start()
  for (const { value, ...record } of log) memory.stream.append({ ...record, value: JSON.stringify(value) })
  const rebuilt = await memory.rebuilt()
  const own = Object.keys(documents).map((key) => [key, rebuilt[key]])
  same(await statesIn(start(), documents), await statesIn(start(), Object.fromEntries(own)), message)
}

/** Returns documents with the newest form of their states. The deadlines of a state follow from it. */
async function statesIn({ parts, sidecar }: MemoryService, documents: Documents): Promise<Documents> {
  for (const [key, value] of Object.entries(documents)) sidecar.set(key, value)
  const states = Object.entries(documents).map(async ([key, document]) => {
    const [name = '', id = ''] = key.split(/\/(.*)/)
    const state = await parts.entities?.find((entity) => entity.name === name)?.state(noTenant, id)
    return [key, { ...(contentOf(document) as object), state, version: undefined, deadlines: undefined }]
  })
  return Object.fromEntries(await Promise.all(states))
}

/** Returns the files that the present code would write. */
async function presentStates(start: () => MemoryService, examples: Record<string, readonly Step[]>) {
  const files = new Map<string, States>()
  for (const [name, steps] of Object.entries(examples)) {
    const memory = start()
    await run(
      memory,
      { settings: {}, steps, isInOrder: true },
      () => 0,
      () => {},
    )
    await memory.rebuilt()
    const log = memory.stream.records.map(({ topic, key, timestamp, value }) => ({
      ...{ topic, key: key?.toString(), timestamp, value: JSON.parse(value.toString()) },
    }))
    for (const key of Object.keys(memory.documents())) {
      const document = memory.sidecar.documents.get(key)?.value as { version?: number }
      const file = `${key.split('/')[0]}-${document.version ?? 0}.json`
      const { documents, ...rest } = files.get(file)?.[name] ?? { log, documents: {} }
      files.set(file, { ...files.get(file), [name]: { ...rest, documents: { ...documents, [key]: document } } })
    }
  }
  return files
}
