/** The mutated files of each part, and the tests that must detect the mutants. */
export const parts = {
  contract: {
    mutate: [
      ...['packages/envelope/src/**/*.ts', '!**/*.gen.ts', '!**/{asyncapi,cli,compat,kafka}/**'],
      'packages/service-kit/src/money/*.ts',
    ],
    tests: '{{envelope-schema,packages/envelope}/test,packages/service-kit/test/money}/*.unit.test.ts',
    // These tests check the schemas instead of the source, and one of them loads the generator of types.
    others: ['packages/envelope/test/generated.unit.test.ts', 'envelope-schema/test/schemas.unit.test.ts'],
  },
  domains: {
    mutate: ['*-service/src/{order,payment,policy}.ts', 'packages/event-*/src/domain/**/*.ts'],
    tests: '{*-service,packages/event-*}/test/*.unit.test.ts',
  },
  state: {
    mutate: ['packages/service-kit/src/state/**/*.ts'],
    tests: 'packages/service-kit/test/state/*.unit.test.ts',
  },
  trust: {
    mutate: ['packages/service-kit/src/trust/**/*.ts'],
    tests: 'packages/service-kit/test/trust/*.unit.test.ts',
  },
  stream: {
    mutate: ['packages/service-kit/src/stream/**/*.ts'],
    tests: 'packages/service-kit/test/stream/**/*.unit.test.ts',
  },
} as const
