import { readFileSync } from 'node:fs'
import type { RepositoryCopy } from '../../support/checkouts/repository-copy.ts'

const schema = 'envelope-schema/schemas/events/OrderCreated.2.json'
const fixture = 'envelope-schema/fixtures/invalid/unknown-version.json'
const domain = 'order-service/src/order.ts'

/** The files to edit by hand. All other changed files are generated. */
export const editedFiles = [schema, fixture, domain]

/** Adds version 2 of OrderCreated with an optional Note. Returns the paths of changed generated files. */
export async function addVersion2({ run, write, replace }: RepositoryCopy): Promise<string[]> {
  write(schema, readFileSync(new URL('OrderCreated.2.json', import.meta.url), 'utf8'))
  const known = 'known versions of OrderCreated: 1'
  replace(fixture, known, `${known}, 2`)
  const { code, stdout, stderr } = await run('make', ['-s', 'generate'])
  if (code !== 0) throw new Error(stderr)
  return Array.from(stdout.matchAll(/^written: (.+)$/gm), ([, path = '']) => path)
}

/** Lets order-service accept and publish version 2. */
export function adoptVersion2({ replace }: RepositoryCopy): void {
  replace(domain, "placedType = 'OrderCreated@1'", "placedType = 'OrderCreated@2'")
}
