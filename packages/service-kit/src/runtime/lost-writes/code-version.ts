import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { contractFolder } from '@orderflow/envelope'

/** Returns a text that changes with the code that decides about documents: that of the service, of its contract and of this package. */
export function codeVersion(root: URL): string {
  const hash = createHash('sha256')
  for (const folder of [new URL('src/', root), contractFolder, new URL('../..', import.meta.url)]) {
    const path = fileURLToPath(folder)
    for (const name of readdirSync(path, { recursive: true, encoding: 'utf8' }).toSorted()) {
      if (/\.(ts|js|json)$/.test(name) && !name.includes('node_modules')) hash.update(readFileSync(`${path}/${name}`))
    }
  }
  return hash.digest('base64url')
}
