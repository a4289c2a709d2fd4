import { expect } from 'chai'
import { describeSpace, describeUse } from '../../src/commands/prepare.ts'
import { go, howToBring, java, maven } from '../../src/provision/tools.ts'

describe('./orderflow doctor', () => {
  const use = { title: 'make up, as processes', tools: [go, java, maven] }

  it('says what a machine is ready for', () => {
    expect(describeUse(use, new Set())).to.deep.equal(['make up, as processes: ready'])
  })

  it('names all that is lacking for a use, and no more, and what brings it', () => {
    const lines = describeUse({ ...use, tools: [go, java] }, new Set([java, maven]))
    expect(lines).to.deep.equal([
      'make up, as processes: lacks Java',
      ...howToBring([java]).map((line) => `    ${line}`),
    ])
  })

  it('says how much room there is, and how much there should be', () => {
    expect(describeSpace(67.4, 24)).to.equal('free disk: 67 GB; memory: 24 GB')
    expect(describeSpace(3, 1.8)).to.equal(
      'free disk: 3 GB, but up to 8 may be needed; memory: 2 GB, but up to 4 may be needed',
    )
  })
})
