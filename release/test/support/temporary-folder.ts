import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new folder that ends with this process. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'orderflow-release-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}
