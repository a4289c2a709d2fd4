import { pathToFileURL } from 'node:url'
import { defineService } from '../../../src/runtime/define-service.ts'
import { run } from '../../../src/runtime/process/run.ts'

// Runs a service that throws an uncaught error. The first argument is the folder of the settings.

const bug = () => {
  throw Object.assign(new Error('a bug, met by {"CustomerName":"SECRET"}'), { document: { CustomerName: 'SECRET' } })
}

await run(
  defineService({
    root: pathToFileURL(`${process.argv[2]}/`),
    description: 'Throws.',
    refusals: {},
    produces: [],
    create() {
      process.nextTick(bug)
      return { routes: [], reactions: {}, rebuild: {} }
    },
  }),
)
