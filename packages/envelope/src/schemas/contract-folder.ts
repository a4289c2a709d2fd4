import { existsSync } from 'node:fs'

const name = 'envelope-schema/'

/**
 * The contract's folder: the nearest `envelope-schema` next to this package or above it. For the package for outside publishers, build.ts writes
 * another address into this file.
 */
export const contractFolder: URL = find(new URL('../../', import.meta.url))

function find(folder: URL): URL {
  const contract = new URL(name, folder)
  if (existsSync(new URL('schemas/', contract))) return contract
  const above = new URL('../', folder)
  if (above.href !== folder.href) return find(above)
  throw new Error(`no folder ${name}schemas next to or above ${import.meta.filename}; create it next to services.json`)
}
