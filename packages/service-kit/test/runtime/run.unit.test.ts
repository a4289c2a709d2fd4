import { expect } from 'chai'
import { PortTakenError } from '../../src/runtime/process/listener.ts'
import { failureText } from '../../src/runtime/process/run.ts'
import { SettingsError } from '../../src/runtime/settings/settings.ts'
import { contractMask } from '../../src/telemetry/mask.ts'
import { TrustFileError } from '../../src/trust/read-trust.ts'

describe('failureText', () => {
  it('returns the stack and the cause of an unexpected error', () => {
    const text = failureText(new Error('no route table', { cause: new TypeError('x is undefined') }), contractMask)
    expect(text).to.match(/^Error: no route table\n {4}at .*run\.unit\.test\.ts/)
    expect(text).to.match(/caused by: TypeError: x is undefined\n {4}at /)
  })

  it('returns only the message for wrong settings, a wrong trust file or a port in use', () => {
    expect(failureText(new SettingsError('file', ['PORT: must be integer']), contractMask)).to.equal(
      'settings are not usable (file):\n  - PORT: must be integer',
    )
    expect(
      failureText(new TrustFileError(new URL('file:///a/trust.json'), ['/unlisted: is missing']), contractMask),
    ).to.equal('trust is not usable (/a/trust.json):\n  - /unlisted: is missing')
    const address = { host: '127.0.0.1', port: 5000, variable: 'Web__HttpPort' }
    expect(failureText(new PortTakenError(address, new Error('EADDRINUSE')), contractMask)).to.equal(
      'port 5000 on 127.0.0.1 is in use: stop the program that uses it, or set Web__HttpPort',
    )
  })

  it('returns a text for any thrown value', () => {
    expect(failureText('a text', contractMask)).to.equal('a text')
  })
})
