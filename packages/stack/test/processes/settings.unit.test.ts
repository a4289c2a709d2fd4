import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { componentSettings } from '../../src/processes/process/components.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

describe('componentSettings', () => {
  afterEach(removeFolders)

  it('returns only the sections `Stream` and `State` of appsettings.json, and prefers values of the environment', () => {
    const folder = temporaryFolder()
    const file = { App: { Name: 'x' }, Stream: { PubSub: 'pubsub', Brokers: 'a:1' }, State: { ConnectionString: '' } }
    writeFileSync(join(folder, 'appsettings.json'), JSON.stringify(file))
    const env = { Stream__Brokers: 'b:2', State__Extra: 'yes', Web__HttpPort: '1', PATH: '/bin' }
    expect(componentSettings(folder, env)).to.deep.equal({
      Stream__PubSub: 'pubsub',
      Stream__Brokers: 'b:2',
      State__ConnectionString: '',
      State__Extra: 'yes',
    })
  })

  it('names an invalid file', () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'appsettings.json'), '{} x')
    expect(() => componentSettings(folder, {})).to.throw(`${join(folder, 'appsettings.json')}: Unexpected`)
  })
})
