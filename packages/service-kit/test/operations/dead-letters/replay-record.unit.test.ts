import { envelopeErrorCodes } from '@orderflow/envelope'
import { expect } from 'chai'
import { checkReplay } from '../../../src/operations/dead-letters/replay-record.ts'
import { openTrust } from '../../support/open-trust.ts'
import { bytesOf, event } from './records.ts'

function refusalOf(value: Uint8Array, reason: string | undefined, problems: string[] = []): string[] {
  const replay = { topic: 'orderevents', value, reason, problems, signature: undefined, isVouchedFor: false }
  const checked = checkReplay(replay, openTrust)
  return 'why' in checked ? checked.why : []
}

describe('checkReplay', () => {
  it('refuses an event that is invalid by the schemas, and names every problem', () => {
    const wrong = { ...event, CreationDate: 'today', Payload: { ...event.Payload, Total: '1' } }
    const why = refusalOf(bytesOf(wrong), 'invalid-payload')
    expect(why).to.have.length(2)
    expect(why.join()).to.contain('/CreationDate').and.to.contain('/Payload/Total')
    expect(refusalOf(Buffer.alloc(0), 'not-an-envelope').join()).to.contain('tombstone')
    expect(refusalOf(bytesOf({ ...event, Name: 'OrderCraeted' }), undefined).join()).to.contain('unknown-event')
  })

  it('accepts a valid event from a trusted publisher after any earlier failure', () => {
    for (const reason of [...envelopeErrorCodes, 'untrusted', 'handler-error', 'refused', undefined]) {
      expect(refusalOf(bytesOf(event), reason)).to.deep.equal([])
    }
  })

  it('refuses an amount with more than 15 digits, which a 64-bit number cannot keep', () => {
    const text = JSON.stringify(event).replace(/"Total":[\d.]+/, '"Total":999999999999.999999')
    expect(refusalOf(Buffer.from(text), 'invalid-payload').join()).to.match(/\/Payload\/Total .*at most 15 digits/)
  })

  it('refuses an unchanged event that a rule of a service rejected', () => {
    expect(refusalOf(bytesOf(event), 'room-taken', [''])).to.deep.equal([
      'room-taken: a rule of the service refuses the event; edit it before you replay it',
    ])
    expect(refusalOf(bytesOf(event), 'room-taken', ['the room is taken that night'])).to.deep.equal([
      'room-taken: the room is taken that night; a rule of the service refuses the event; edit it before you replay it',
    ])
    expect(refusalOf(bytesOf(event), undefined)).to.deep.equal([])
  })
})
