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
import { amountLimit } from './domain/policy.ts'
import { paymentRoutes } from './routes/payments.ts'
import type { Settings } from './settings.ts'
import { createStore } from './store.ts'
import { createSubscriptions } from './subscriptions.ts'

/** The whole service without its listeners. */
export function createApp({ settings, log, sidecar, now, newId }: AppDependencies<Settings>): App {
  const app = { id: settings.App.Id, name: settings.App.Name }
  const publish = createPublisher(sidecar)
  const commit = createUnitOfWork(sidecar, createArrivalList(now))
  const store = createStore(createReader(sidecar), commit, amountLimit(settings.Policy.ApproveUpTo))
  const commands = createCommands({ app, store, publish, now, newId })
  const consumers = createSubscriptions({ app, store, publish, log, now })

  return {
    web: createWeb({
      title: 'payment-service',
      description: 'Payments of orders: one per order, decided by a policy when the order arrives, or made by hand.',
      apiFiles: [fileURLToPath(new URL('./routes/payments.ts', import.meta.url))],
      routes: paymentRoutes(commands, store),
      isReady: sidecar.isReady,
      log,
    }),
    channel: createAppChannel({ token: settings.AppChannel.Token, consumers, log }),
  }
}
