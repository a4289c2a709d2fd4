import { envelopeErrorCodes } from '@orderflow/envelope'
import { expect } from 'chai'
import { checkReplay } from '../../../src/operations/dead-letters/replay-record.ts'
import { openTrust } from '../../support/open-trust.ts'
import { bytesOf, event } from './records.ts'

function refusalOf(value: Uint8Array, reason: string | undefined): string[] {
  const replay = { topic: 'orderevents', value, reason, signature: undefined, isVouchedFor: false }
  const checked = checkReplay(replay, openTrust)
  return 'why' in checked ? checked.why : []
}

describe('a replay is refused', () => {
  it('as long as the schemas refuse the event, naming every problem', () => {
    const wrong = { ...event, CreationDate: 'today', Payload: { ...event.Payload, Total: '1' } }
    const why = refusalOf(bytesOf(wrong), 'invalid-payload')
    expect(why).to.have.length(2)
    expect(why.join()).to.contain('/CreationDate').and.to.contain('/Payload/Total')
    expect(refusalOf(Buffer.alloc(0), 'not-an-envelope').join()).to.contain('tombstone')
    expect(refusalOf(bytesOf({ ...event, Name: 'OrderCraeted' }), undefined).join()).to.contain('unknown-event')
  })

  it('not when the schemas have learned to accept it, its publisher is trusted by now, or the fault was ours', () => {
    for (const reason of [...envelopeErrorCodes, 'untrusted', 'handler-error', 'refused', undefined]) {
      expect(refusalOf(bytesOf(event), reason)).to.deep.equal([])
    }
  })

  it('as long as an amount has more digits than a number keeps', () => {
    const text = JSON.stringify(event).replace(/"Total":[\d.]+/, '"Total":999999999999.999999')
    expect(refusalOf(Buffer.from(text), 'invalid-payload').join()).to.match(/\/Payload\/Total .*at most 15 digits/)
  })

  it('when the event contradicts what is known and was not edited', () => {
    expect(refusalOf(bytesOf(event), 'conflicting-order').join()).to.contain('contradicts')
    expect(refusalOf(bytesOf(event), undefined)).to.deep.equal([])
  })
})
