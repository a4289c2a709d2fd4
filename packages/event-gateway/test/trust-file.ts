import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

let folder: string
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'event-gateway-'))
})
after(() => rmSync(folder, { recursive: true }))

/** Writes a trust file and returns its path. */
export function trustFile(unlisted: 'accept' | 'reject', publishers: object): string {
  const file = join(folder, `${crypto.randomUUID()}.json`)
  writeFileSync(file, JSON.stringify({ unlisted, publishers }))
  return file
}
