import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { service as orderService } from '@orderflow/order-service/service'
import { createApp, entity, openEntity, readSettings, type ServiceContext } from '@orderflow/service-kit'
import { capturedLog, FakeSidecar } from '@orderflow/service-kit/testing'
import { expect } from 'chai'

const report = entity({
  name: 'report',
  id: () => 'report',
  events: ['OrderExpired'],
  initial: {},
  every: { Nightly: '0 2 * * *' },
  onDeadline: { Nightly: () => undefined },
  view: (state) => state,
})
const service = {
  ...orderService,
  create: (context: ServiceContext) => ({ routes: [], entities: [openEntity(report, context)] }),
}

it('a service passes the times of its schedules, but none while the time of the log is unknown', async () => {
  const sidecar = new FakeSidecar()
  let time: number | undefined
  const now = () => new Date(time ?? 0)
  const { backgrounds } = createApp(service, {
    settings: readSettings(service, { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' }),
    ...{ log: capturedLog().log, sidecar, now, newId: randomUUID },
    clock: { now, fresh: () => time, tick: async () => {} },
  })
  const due = () => sidecar.published.filter(({ topic }) => topic === 'deadlines')
  const passed = async (value: string | undefined) => {
    time = value === undefined ? undefined : Date.parse(value)
    await delay(1_100)
    return due().map(({ value }) => JSON.parse(Buffer.from(value).toString()).Payload)
  }
  for (const one of backgrounds) void one.start()
  try {
    expect(await passed(undefined)).to.deep.equal([])
    expect(sidecar.documents.size).to.equal(0)
    expect(await passed('2026-01-01T01:59:59.999Z')).to.deep.equal([])
    expect(await passed('2026-01-01T02:00:00.000Z')).to.deep.equal([
      { Entity: 'report', EntityId: 'report', Deadline: 'Nightly', Due: '2026-01-01T02:00:00.000Z' },
    ])
  } finally {
    await Promise.all(backgrounds.map((one) => one.stop()))
  }
})
