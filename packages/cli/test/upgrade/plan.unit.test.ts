import { expect } from 'chai'
import { type Plan, planText } from '../../src/upgrade/plan.ts'
import type { Step } from '../../src/upgrade/steps.ts'
import { isNewer, steps, stepsAfter } from '../../src/upgrade/steps.ts'

const step = (version: string, more: Partial<Step> = {}): Step => ({
  version,
  title: `Rename a setting of ${version}`,
  why: 'The new name has a unit.',
  ...more,
})

const plan = (own: Step[]): Plan => ({
  before: { version: '0.2.0', dapr: '1.18.2', kafka: '4.3.1', node: '24.21.0' },
  after: { version: '0.3.0', dapr: '1.19.0', kafka: '4.3.1', node: '24.22.0' },
  branch: 'upgrade-0.3.0',
  base: 'main',
  steps: own,
})

describe('the plan of an upgrade', () => {
  it('names the versions of the packages, Dapr, Kafka and Node, the commits, and how to undo them', () => {
    expect(planText(plan([step('0.3.0')]))).to.equal(
      [
        '            now       then',
        '  packages  0.2.0     0.3.0',
        '  Dapr      1.18.2    1.19.0',
        '  Kafka     4.3.1     4.3.1',
        '  Node      24.21.0   24.22.0',
        '',
        'The upgrade creates the branch upgrade-0.3.0 with these commits, then runs make test:',
        '  1. Update the packages to 0.3.0',
        '  2. Rename a setting of 0.3.0. The new name has a unit.',
        '  3. Generate files with 0.3.0, if this changes files',
        '',
        'Stored data, topics and .env stay the same.',
        'To undo it: git switch main && git branch -D upgrade-0.3.0, then make up if the stack runs.',
      ].join('\n'),
    )
  })

  it('names each effect on data, and states that Git alone cannot undo it', () => {
    const outsideGit = { effect: 'make up rebuilds the stores from the log.', undo: 'Rebuild the stores again.' }
    const text = planText(plan([step('0.2.1', { outsideGit }), step('0.3.0')]))
    expect(text).to.contain('\nStored data, topics and .env:\n  - make up rebuilds the stores from the log.\n')
    expect(text).to.match(
      /\nGit alone cannot undo it\. To undo it:\n {2}- git switch main .*\n {2}- Rebuild the stores again\.$/,
    )
  })

  it('contains the steps of all versions after the installed one', () => {
    const all = ['0.2.0', '0.9.0', '0.10.0'].map((version) => step(version))
    expect(stepsAfter('0.2.0', all).map(({ version }) => version)).to.deep.equal(['0.9.0', '0.10.0'])
    expect(stepsAfter('0.9.0', all).map(({ version }) => version)).to.deep.equal(['0.10.0'])
  })

  it('lists the steps in the order of their versions', () => {
    for (const [index, { version }] of steps.entries()) {
      expect(isNewer(steps[index - 1]?.version ?? '0.0.0', version)).to.equal(false)
    }
  })
})
