import { application } from '@orderflow/stack'
import { expect } from 'chai'
import { nextCommand } from '../../src/commands/next-command.ts'

describe('make up', () => {
  it('names the demo as the next step only if services.json declares one', () => {
    expect([nextCommand(application), nextCommand({ demo: undefined })]).to.deep.equal(['make demo', 'make status'])
  })
})
