import { existsSync } from 'node:fs'

const name = 'envelope-schema/'

/**
 * The application's contract: the nearest folder `envelope-schema` beside this package or above it. It has the schemas of the events, and
 * what was generated from services.json. In the package for outside publishers, build.ts writes another address into this file.
 */
export const contractFolder: URL = find(new URL('../../', import.meta.url))

function find(folder: URL): URL {
  const contract = new URL(name, folder)
  if (existsSync(new URL('schemas/', contract))) return contract
  const above = new URL('../', folder)
  if (above.href !== folder.href) return find(above)
  throw new Error(`there is no folder ${name}schemas above ${import.meta.filename}; add it beside services.json`)
}
