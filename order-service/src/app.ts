import { fileURLToPath } from 'node:url'
import {
  type App,
  type AppDependencies,
  createAppChannel,
  createArrivalList,
  createPublisher,
  createReader,
  createUnitOfWork,
  createWeb,
} from '@orderflow/service-kit'
import { createCommands } from './commands.ts'
import { orderRoutes } from './routes/orders.ts'
import type { Settings } from './settings.ts'
import { createStore } from './store.ts'
import { createSubscriptions } from './subscriptions.ts'

/** The whole service without its listeners. */
export function createApp({ settings, log, sidecar, now, newId }: AppDependencies<Settings>): App {
  const app = { id: settings.App.Id, name: settings.App.Name }
  const publish = createPublisher(sidecar)
  const store = createStore(app, createReader(sidecar), createUnitOfWork(sidecar, createArrivalList(now)))
  const commands = createCommands({ app, store, publish, now, newId, log })
  const consumers = createSubscriptions({ app, store, publish, log, now })

  return {
    web: createWeb({
      title: 'order-service',
      description: 'Orders, and what became of them. An order is paid a moment after it is created: get it again.',
      apiFiles: [fileURLToPath(new URL('./routes/orders.ts', import.meta.url))],
      routes: orderRoutes(commands, store),
      isReady: sidecar.isReady,
      log,
    }),
    channel: createAppChannel({ token: settings.AppChannel.Token, consumers, log }),
  }
}
