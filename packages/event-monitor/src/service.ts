import { createStreams, defineService, section } from '@orderflow/service-kit'
import { openMonitor } from './monitor.ts'
import { monitorPage } from './page-files.ts'
import { checkRoutes, deadLetterRoutes } from './routes/dead-letters.ts'
import { deadlineRoutes } from './routes/deadlines.ts'
import { conversationRoutes, eventRoutes } from './routes/events.ts'
import { fixtureRoutes } from './routes/fixture.ts'
import { liveRoutes } from './routes/live.ts'
import { replayRoutes } from './routes/replays.ts'
import { revealRoutes } from './routes/reveal.ts'
import { systemRoutes } from './routes/system.ts'
import type { MonitorSettings } from './services.ts'

/** Returns the monitor. @param root the folder of its appsettings.json, below the folder of services.json */
export const monitorIn = (root: URL) =>
  defineService<MonitorSettings>({
    root,
    description: 'Shows every event on the stream, its problems and their fixes, and replays failed events.',
    sections: {
      Monitor: section({
        Folder: {
          type: 'string',
          minLength: 1,
          description: 'The folder of the index and of ledger.sqlite, relative to the folder of the service.',
        },
        KeepEvents: { type: 'integer', minimum: 1_000, description: 'The number of events that the index keeps.' },
        KeepDays: { type: 'integer', minimum: 1, description: 'The days for which the index keeps events.' },
        Addresses: {
          type: 'string',
          pattern: '^([\\w-]+=https?://[^,\\s]+(,[\\w-]+=https?://[^,\\s]+)*)?$',
          description:
            'The addresses of the services: service=url, separated by commas. Empty: this machine, with the ports of services.json.',
        },
        DryRuns: {
          type: 'string',
          pattern: '^([\\w-]+=https?://[^,\\s]+ [\\w-]+(,[\\w-]+=https?://[^,\\s]+ [\\w-]+)*)?$',
          description:
            'The addresses and tokens for dry runs: service=url token, separated by commas. Empty: no dry runs.',
        },
      }),
    },
    produces: [],
    refusals: {
      'not-kept': { status: 404, title: 'Not found in the index' },
      'no-event': { status: 422, title: 'The record is not an event' },
      'not-in-log': { status: 410, title: 'Not found in the log' },
      'not-ready': { status: 409, title: 'Not possible now' },
      'other-attempt': { status: 409, title: 'The dead letter has a newer attempt' },
      'idempotency-key-reused': { status: 422, title: 'The Idempotency-Key belongs to another request' },
      refused: { status: 422, title: 'The replay would be rejected again' },
    },
    create(context) {
      const monitor = openMonitor(root, context)
      const streams = createStreams()
      return {
        routes: [
          ...liveRoutes(monitor, streams),
          ...eventRoutes(monitor),
          ...fixtureRoutes(monitor),
          ...conversationRoutes(monitor),
          ...deadLetterRoutes(monitor),
          ...checkRoutes(monitor),
          ...replayRoutes(monitor),
          ...deadlineRoutes(monitor),
          ...revealRoutes(monitor, context.log),
          ...systemRoutes(monitor),
        ],
        reactions: {},
        rebuild: {},
        ...monitorPage(),
        background: {
          start: () => monitor.start(),
          async stop() {
            streams.end()
            await monitor.stop()
          },
        },
      }
    },
  })

export const service = monitorIn(new URL('..', import.meta.url))
