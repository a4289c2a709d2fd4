import { expect } from 'chai'
import { describeSpace, describeUse } from '../src/doctor.ts'
import { go, howToBring, java, maven } from '../src/provision/tools.ts'

describe('./orderflow doctor', () => {
  const use = { title: 'make up, as processes', tools: [go, java, maven] }

  it('reports that a use such as `make up` is ready if the machine has all tools of this use', () => {
    expect(describeUse(use, new Set())).to.deep.equal(['make up, as processes: ready'])
  })

  it('names only the missing tools of a use, and the commands that install them', () => {
    const lines = describeUse({ ...use, tools: [go, java] }, new Set([java, maven]))
    expect(lines).to.deep.equal([
      'make up, as processes: lacks Java',
      ...howToBring([java]).map((line) => `    ${line}`),
    ])
  })

  it('reports the free and the required disk and memory', () => {
    expect(describeSpace(67.4, 24)).to.equal('free disk: 67 GB; memory: 24 GB')
    expect(describeSpace(3, 1.8)).to.equal(
      'free disk: 3 GB, but up to 8 may be needed; memory: 2 GB, but up to 4 may be needed',
    )
  })
})
