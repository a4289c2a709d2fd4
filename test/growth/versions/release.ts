import { readFileSync } from 'node:fs'
import type { RepositoryCopy } from '../../support/checkouts/repository-copy.ts'

const schema = 'envelope-schema/schemas/events/OrderCreated.2.json'
const fixture = 'envelope-schema/fixtures/invalid/unknown-version.json'

/** The files to edit by hand. All other changed files are generated. */
export const editedFiles = [schema, fixture]

/** Adds version 2 of OrderCreated with an optional Note. Returns the paths of changed generated files. */
export async function addVersion2({ run, write, replace }: RepositoryCopy): Promise<string[]> {
  write(schema, readFileSync(new URL('OrderCreated.2.json', import.meta.url), 'utf8'))
  const known = 'known versions of OrderCreated: 1'
  replace(fixture, known, `${known}, 2`)
  const { code, stdout, stderr } = await run('make', ['-s', 'generate'])
  if (code !== 0) throw new Error(stderr)
  return Array.from(stdout.matchAll(/^written: (.+)$/gm), ([, path = '']) => path)
}
