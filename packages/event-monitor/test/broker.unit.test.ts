import { randomUUID } from 'node:crypto'
import { createApp, createLog, readSettings, SettingsError } from '@orderflow/service-kit'
import { FakeSidecar } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import { service } from '../src/service.ts'

describe('the monitor without a broker', () => {
  it('does not start, and names the missing setting', async () => {
    const settings = readSettings(service, { APP_API_TOKEN: 'a', DAPR_API_TOKEN: 'd', Stream__Brokers: '' })
    const log = createLog('event-monitor', 'silent')
    const app = createApp(service, {
      settings,
      log,
      sidecar: new FakeSidecar(),
      now: () => new Date(),
      newId: randomUUID,
    })
    const error = await Promise.resolve(app.backgrounds[0]?.start()).catch((thrown: unknown) => thrown)
    await app.backgrounds[0]?.stop()
    expect(error).to.be.instanceOf(SettingsError)
    expect((error as SettingsError).message).to.contain('Stream__Brokers: is missing')
  })
})
