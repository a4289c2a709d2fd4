import { Script } from 'node:vm'
import { attempt } from './error.ts'

/** Returns true if code of a module may give this name to a variable. The parser decides, because it has the list of reserved words. */
export function isIdentifier(name: string): boolean {
  if (!/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)) return false
  // `await` and `yield` are reserved in some functions only.
  const code = `'use strict'; async function* outer() { const ${name} = 0 }`
  return attempt(() => new Script(code)) !== undefined
}
