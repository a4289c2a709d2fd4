import { Script } from 'node:vm'

/** Returns true if code of a module may give this name to a variable. The parser decides, because it has the list of reserved words. */
export function isIdentifier(name: string): boolean {
  if (!/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)) return false
  try {
    // `await` and `yield` are reserved in some functions only.
    new Script(`'use strict'; async function* outer() { const ${name} = 0 }`)
    return true
  } catch {
    return false
  }
}
