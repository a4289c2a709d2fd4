import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folders: string[] = []

process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** Creates a folder that is removed at the end of this process. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'orderflow-release-'))
  folders.push(folder)
  return folder
}
