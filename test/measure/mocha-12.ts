import { registerHooks } from 'node:module'

/**
 * Maps the names of Mocha’s files, which have file extensions since Mocha 12. Remove this when Stryker supports them
 * (stryker-mutator/stryker-js, pull request 6205).
 */
registerHooks({
  resolve: (specifier, context, next) =>
    next(/\/mocha\/lib\/cli\/[a-z-]+$/.test(specifier) ? `${specifier}.cjs` : specifier, context),
})
