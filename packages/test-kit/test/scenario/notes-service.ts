import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { FullEvent } from '@orderflow/envelope'
import { defineService, type ServiceDefinition } from '@orderflow/service-kit'

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

/** Returns a service in a temporary folder. Its reactions change one document. */
export function notesService(change: Change): ServiceDefinition {
  const folder = mkdtempSync(join(tmpdir(), 'orderflow-notes-'))
  folders.push(folder)
  mkdirSync(join(folder, 'test'))
  const { Policy: _, ...settings } = JSON.parse(
    readFileSync(join(repository, 'payment-service/appsettings.json'), 'utf8'),
  )
  for (const name of ['File', 'Publishers'])
    settings.Trust[name] = join(repository, 'payment-service', settings.Trust[name])
  writeFileSync(join(folder, 'appsettings.json'), JSON.stringify(settings))
  return defineService({
    root: pathToFileURL(`${folder}/`),
    description: 'Keeps a note.',
    produces: [],
    refusals: {},
    create({ documents, now }) {
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
    },
  })
}
