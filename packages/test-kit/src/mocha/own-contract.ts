import { registerHooks } from 'node:module'

const sources = new URL('../../../envelope/src/', import.meta.url).href
const tests = new URL('../../../envelope/test/', import.meta.url).href
const mark = '?own-contract'

/** Replaces the constant of the module `schemas/contract-folder.ts`. */
export const contractFolder: URL = new URL('../../../envelope/test/contract/', import.meta.url)

/**
 * Gives the tests of packages/envelope another instance of the engine. This instance reads the contract in the folder of these tests, so they pass
 * with any contract of the application.
 */
registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context)
    // The main module of a program that a test starts has no parent. It is treated as a test.
    const { parentURL = tests } = context
    const isOwn = parentURL.startsWith(tests) || parentURL.endsWith(mark)
    if (!isOwn || !/^(\.|file:)/.test(specifier) || !resolved.url.startsWith(sources)) return resolved
    const isContract = resolved.url === `${sources}schemas/contract-folder.ts`
    return { ...resolved, url: isContract ? import.meta.url : resolved.url + mark }
  },
})
