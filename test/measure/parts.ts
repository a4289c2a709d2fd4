/** The mutated files of each part, and the tests that must detect the mutants. */
export const parts = {
  contract: {
    mutate: [
      ...['packages/envelope/src/**/*.ts', '!**/*.gen.ts', '!**/{asyncapi,cli,compat,kafka}/**'],
      'packages/service-kit/src/money/*.ts',
    ],
    tests: '{{envelope-schema,packages/envelope}/test,packages/service-kit/test/money}/*.unit.test.ts',
    // This test checks the schemas instead of the source.
    others: ['envelope-schema/test/schemas.unit.test.ts'],
  },
  domains: {
    mutate: ['*-service/src/{order,payment,policy}.ts', 'packages/event-gateway/src/{body,judge}.ts'],
    tests: '{*-service,packages/event-gateway}/test/*.unit.test.ts',
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
    mutate: ['packages/kafka-log/src/*.ts', 'packages/service-kit/src/stream/**/*.ts'],
    tests: 'packages/{kafka-log/test,service-kit/test/stream/**}/*.unit.test.ts',
  },
} as const
