import { fileURLToPath } from 'node:url'
import {
  createAppChannel,
  createArrivalList,
  createPublisher,
  createReader,
  createUnitOfWork,
  createWeb,
  type Logger,
  type Sidecar,
} from '@orderflow/service-kit'
import type { Express } from 'express'
import { createCommands } from './commands.ts'
import { amountLimit } from './domain/policy.ts'
import { paymentRoutes } from './routes/payments.ts'
import type { Settings } from './settings.ts'
import { createStore } from './store.ts'
import { createSubscriptions } from './subscriptions.ts'

export interface AppDependencies {
  settings: Settings
  log: Logger
  sidecar: Sidecar
  now: () => Date
  newId: () => string
}

/** The whole service without its listeners: `web` for the public, `channel` for the sidecar. */
export function createApp({ settings, log, sidecar, now, newId }: AppDependencies): { web: Express; channel: Express } {
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
