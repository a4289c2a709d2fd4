import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folder = mkdtempSync(join(tmpdir(), 'event-gateway-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

/** Writes a file of whom to trust; answers its path. */
export function trustFile(unlisted: 'taken-in' | 'set-aside', publishers: object): string {
  const file = join(folder, `${crypto.randomUUID()}.json`)
  writeFileSync(file, JSON.stringify({ unlisted, publishers }))
  return `file://${file}`
}
