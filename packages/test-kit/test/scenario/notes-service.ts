import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { FullEvent } from '@orderflow/envelope'
import { baseSections, defineService, type ServiceDefinition } from '@orderflow/service-kit'

const repository = join(import.meta.dirname, '../../../..')

/** The key of the only document. */
export const key = 'note/1'

export interface Note {
  names: string[]
  total: number
}

type Change = (note: Note, event: FullEvent<'OrderCreated' | 'OrderCancelled'>, at: Date) => Note

const folders: string[] = []
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

/** Returns a service in a temporary folder, with the settings and rights of another service. */
export function temporaryService(as: string, create: ServiceDefinition['create']): ServiceDefinition {
  const folder = mkdtempSync(join(tmpdir(), 'orderflow-notes-'))
  folders.push(folder)
  mkdirSync(join(folder, 'test'))
  const file = join(repository, as, 'appsettings.json')
  const sections = Object.entries<Record<string, string>>(JSON.parse(readFileSync(file, 'utf8')))
  const settings = Object.fromEntries(sections.filter(([name]) => Object.hasOwn(baseSections, name)))
  const trust = settings.Trust as Record<string, string>
  for (const name of ['File', 'Publishers']) trust[name] = join(repository, as, trust[name] as string)
  writeFileSync(join(folder, 'appsettings.json'), JSON.stringify(settings))
  return defineService({
    ...{ root: pathToFileURL(`${folder}/`), description: 'Keeps a note.', produces: [], refusals: {}, create },
  })
}

/** Returns a service whose reactions change one document. */
export const notesService = (change: Change): ServiceDefinition =>
  temporaryService('payment-service', ({ documents, now }) => {
    const keep = (event: FullEvent<'OrderCreated' | 'OrderCancelled'>) =>
      documents('').change({
        key,
        bytes: 100,
        decide(view) {
          const before = view.get<Note>(key) ?? { names: [], total: 0 }
          const after = change(before, event, now())
          if (after !== before) view.write(after)
          return after !== before
        },
      })
    return { routes: [], reactions: { orderevents: { OrderCreated: keep, OrderCancelled: keep } }, rebuild: {} }
  })

/** Runs the tests of a suite as on a developer's machine. On a CI server, a scenario fails if its service reads new fields. */
export function withoutCi(): void {
  const { CI } = process.env
  before(() => delete process.env.CI)
  after(() => Object.assign(process.env, CI !== undefined && { CI }))
}
