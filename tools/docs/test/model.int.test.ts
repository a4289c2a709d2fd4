import { join } from 'node:path'
import { ensureTlc } from '@orderflow/programs'
import { repository } from '@orderflow/stack/base'
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
    if (!configuration) throw new Error(`unknown configuration ${wanted}`)
    return check(command, folder, configuration)
  }

  it('confirms that a model holds', async () => {
    const { violated, states } = await checked('Changes')
    expect(violated).to.equal(undefined)
    expect(states).to.be.above(100)
  })

  it('finds a violation without a guard, with the states that lead to it', async () => {
    const { violated, output } = await checked('Batch without RedoLookers')
    expect(violated).to.equal('AnswersStored')
    expect(output).to.contain('State 2: <Decide')
  })

  it('finds a violation of a temporal property', async () => {
    expect((await checked('Entity.facts without OwnSubscription')).violated).to.equal('LoggedIsStored')
  })

  it('reports a wrong module as an error', async () => {
    const broken = { name: 'B', model: 'B', module: 'Nothing', text: 'SPECIFICATION Spec\n', violates: undefined }
    const error = await check(command, folder, broken).catch((thrown: Error) => thrown)
    expect(error).to.be.instanceOf(Error).with.property('message').that.contains('TLC reached no verdict')
  })
})
