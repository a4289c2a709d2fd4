import { registerHooks } from 'node:module'

/**
 * Stryker's runner asks for files of Mocha by names that Mocha 12 gave endings to. To go as soon as it knows them
 * (stryker-mutator/stryker-js, pull request 6205).
 */
registerHooks({
  resolve: (specifier, context, next) =>
    next(/\/mocha\/lib\/cli\/[a-z-]+$/.test(specifier) ? `${specifier}.cjs` : specifier, context),
})
