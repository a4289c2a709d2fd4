import { expect } from 'chai'
import { OperationError } from '../../src/operations/terminal.ts'
import { untilStopped } from '../../src/operations/until-stopped.ts'

describe('untilStopped', () => {
  const counting = (...counts: number[]) => ({ countMembers: async () => counts.shift() ?? 0, pauseMs: 0 })

  it('waits until the last sidecar of the service has left', async () => {
    const waits: string[] = []
    await untilStopped('a-service', { ...counting(2, 1), onWait: (reason) => waits.push(reason) })
    expect(waits).to.deep.equal([
      'a-service still consumes: its group in Kafka has 2 members',
      'a-service still consumes: its group in Kafka has 1 member',
    ])
  })

  it('refuses to continue while a sidecar consumes, and names the next step', async () => {
    const countMembers = async () => 1
    const error = await untilStopped('a-service', { countMembers, onWait: () => {}, pauseMs: 0, patienceMs: 0 }).catch(
      (error: unknown) => error,
    )
    expect(error).to.be.instanceOf(OperationError)
    expect((error as OperationError).nextStep).to.contain('stop a-service everywhere')
  })
})
