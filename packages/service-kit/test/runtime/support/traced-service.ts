import { pathToFileURL } from 'node:url'
import { defineService } from '../../../src/runtime/define-service.ts'
import { run } from '../../../src/runtime/process/run.ts'
import { text } from '../../../src/web/model.ts'
import { route } from '../../../src/web/route.ts'

// Runs a service that answers GET /v1/things. The first argument is the folder of the settings.

await run(
  defineService({
    root: pathToFileURL(`${process.argv[2]}/`),
    description: 'Answers.',
    refusals: {},
    produces: [],
    create: () => ({
      routes: [
        route({
          method: 'get',
          path: '/v1/things',
          scope: 'things:read',
          summary: 'Get it',
          input: {},
          answers: { 200: 'As it is.' },
          body: { name: 'Thing', schema: text },
          handle: async () => ({ status: 200, body: 'a thing' }),
        }),
      ],
      reactions: {},
      rebuild: {},
    }),
  }),
)
