import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../lib/paths.ts'

/** The copy of services.json beside the settings of a service that comes from a package. */
export function applicationCopy(): string {
  const content = JSON.parse(readFileSync(join(repository, 'services.json'), 'utf8')) as object
  const $comment =
    'Generated from services.json of the repository by make generate: an image has the folder of one service.'
  return `${JSON.stringify({ $comment, ...content }, null, 2)}\n`
}
