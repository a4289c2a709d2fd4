import { join } from 'node:path'
import { ensureTlc, repository } from '@orderflow/cli'
import { expect } from 'chai'
import { configurations } from '../model/configurations.ts'
import { check } from '../model/tlc.ts'

describe('TLC', () => {
  const folder = join(repository, 'tools/docs/model')
  let command: string[]
  before(async () => {
    command = await ensureTlc({ onProgress: () => {} })
  })
  const checked = async (wanted: string) => {
    const configuration = configurations().find(({ name }) => name === wanted)
    if (!configuration) throw new Error(`there is no ${wanted}`)
    return check(command, folder, configuration)
  }

  it('finds that a model holds', async () => {
    const { violated, states } = await checked('Orders.live')
    expect(violated).to.equal(undefined)
    expect(states).to.be.above(100)
  })

  it('finds what is violated without a guard, and how it comes to that', async () => {
    const { violated, output } = await checked('Batch without RedoLookers')
    expect(violated).to.equal('AnswersStored')
    expect(output).to.contain('State 2: <Decide')
  })

  it('finds a property that is violated in the end', async () => {
    expect((await checked('Orders.live without OwnSubscription')).violated).to.equal('LoggedIsStored')
  })

  it('says so when a module is wrong', async () => {
    const broken = { name: 'B', model: 'B', module: 'Nothing', text: 'SPECIFICATION Spec\n', violates: undefined }
    const error = await check(command, folder, broken).catch((thrown: Error) => thrown)
    expect(error).to.be.instanceOf(Error).with.property('message').that.contains('TLC came to no verdict')
  })
})
