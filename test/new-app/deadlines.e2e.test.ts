import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { changesIn } from '../support/checkouts/checkout.ts'
import { followApplication } from '../support/documents/follow-application.ts'

const document = 'docs/deadlines.md'
const schema = 'envelope-schema/schemas/events/DeadlinePassed.1.json'

describe(document, () => {
  const reader = followApplication(document, 'city-clinic', 7_000)

  it('leaves a clean repository, in which `make generate` restores the schema of passed deadlines', async () => {
    const { copy } = reader()
    rmSync(join(copy.folder, schema))
    const { code, stdout, stderr } = await copy.run('npm', ['test', '--', 'appointment-service'])
    expect(code).not.to.equal(0)
    expect(stdout + stderr).to.contain('/services/appointment-service/deadlines: must be true')
    expect((await copy.run('make', ['generate'])).stdout).to.contain(`written: ${schema}`)
    expect(await changesIn(copy)).to.deep.equal({ changed: [], added: [] })
  })
})
