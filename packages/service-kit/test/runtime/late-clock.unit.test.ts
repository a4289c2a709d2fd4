import { randomUUID } from 'node:crypto'
import { pathToFileURL } from 'node:url'
import { noTenant } from '@orderflow/envelope'
import { expect } from 'chai'
import { entity } from '../../src/entity/entity.ts'
import { type Entity, openEntity } from '../../src/entity/open-entity.ts'
import { createApp } from '../../src/runtime/create-app.ts'
import { defineService, type ServiceContext } from '../../src/runtime/define-service.ts'
import { section } from '../../src/runtime/settings/sections.ts'
import { readSettings } from '../../src/runtime/settings/settings.ts'
import { createLogClock } from '../../src/stream/log/log-clock.ts'
import { capturedLog } from '../../src/testing/captured-log.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { send, withServer } from '../../src/testing/http.ts'
import { outage } from '../entity/account.ts'
import { passedIn } from '../entity/bill.ts'
import { virtualTime } from '../support/virtual-time.ts'

/** An order that is reminded again after 90 seconds. */
const order = entity({
  name: 'order',
  id: ({ OrderId }) => OrderId,
  events: ['OrderReminded'],
  initial: { until: undefined as string | undefined },
  evolve: { OrderReminded: (_, { Payload }) => ({ until: Payload.PayableUntil }) },
  deadlines: ({ until }) => ({ End: until }),
  onDeadline: { End: (_, { id }) => ({ OrderReminded: { OrderId: id, PayableUntil: '2027-01-01T00:00:00Z' } }) },
  commands: {
    remind: (PayableUntil: string, _, { id }) => ({ OrderReminded: { OrderId: id, PayableUntil } }),
  },
  view: (state) => state,
})

describe('a service with deadlines', () => {
  const time = virtualTime()

  it('waits and is unready if the last record of the clock is older than a minute, and fires after the next record', async () => {
    const orders = Promise.withResolvers<ReturnType<typeof open>>()
    const open = (context: ServiceContext) => openEntity(order, context)
    const service = defineService({
      // Its AppId may publish the events.
      root: pathToFileURL(`${import.meta.dirname}/../../../../order-service/`),
      ...{ description: 'Has orders.', refusals: {}, produces: [] },
      sections: { Orders: section({ PaymentWithin: { type: 'number' } }) },
      create(context) {
        const opened = open(context)
        orders.resolve(opened)
        return { routes: [], entities: [opened as Entity<unknown, unknown, object>] }
      },
    })
    const variables = { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr', Stream__Brokers: '' }
    const begin = Date.parse('2026-01-01T00:00:00Z')
    let isDown = false
    const clock = createLogClock(async () => {
      if (isDown) throw outage()
      return begin + performance.now()
    })
    const sidecar = new FakeSidecar()
    const app = createApp(service, {
      settings: readSettings(service, variables),
      ...{ log: capturedLog().log, sidecar, clock, now: () => new Date(0), newId: randomUUID },
    })
    const stream = () =>
      withServer(app.web, async (url) => {
        const { missing } = (await send<{ missing: { stream: string } }>(`${url}/readyz`)).body
        return missing.stream
      })
    const pass = async (seconds: number) => {
      for (let passed = 0; passed < seconds; passed += 1) await time.pass(1_000)
    }
    const stale =
      'the time of the log is older than a minute, so no deadline passes: the topic __clock could not be written or read'
    const isFresh = 'no broker is configured: set Stream__Brokers'
    expect(await stream()).to.equal(stale)

    for (const background of app.backgrounds) background.start()
    await pass(5)
    expect(await stream()).to.equal(isFresh)
    const until = new Date(begin + 90_000).toISOString()
    const opening = (await orders.promise).do.remind(undefined, until, { tenant: noTenant })
    await pass(5)
    await opening
    isDown = true
    await pass(50)
    expect(await stream()).to.equal(isFresh)
    await pass(15)
    expect(await stream()).to.equal(stale)
    await pass(60)
    expect(passedIn(sidecar)).to.deep.equal([])

    isDown = false
    await pass(12)
    expect(passedIn(sidecar)).to.have.length(1)
    expect(await stream()).to.equal(isFresh)
  })
})
