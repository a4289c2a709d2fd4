import { expect } from 'chai'
import fc from 'fast-check'
import { capturedOutput } from './support/captured-output.ts'

describe('the output of release commands', () => {
  const uri = 'mongodb://user:p%40ss-word@host/?replicaSet=rs0'

  it('hides all forms of a secret', () => {
    const out = capturedOutput()
    out.hide(['to"ken-1', uri])
    const spellings = [
      'to"ken-1',
      JSON.stringify('to"ken-1'),
      encodeURIComponent('to"ken-1'),
      Buffer.from('_:to"ken-1').toString('base64'),
      uri,
      'p%40ss-word',
      'p@ss-word',
    ]
    for (const spelling of spellings) {
      out.print(`before ${spelling} after`)
      out.complain(`before ${spelling} after`)
      out.progress(spelling)
    }
    expect(out.text()).to.not.match(/ken-1|ss-word|dG8ia2/)
    expect(out.text()).to.include('before *** after')
  })

  it('hides every secret with at least five characters', () => {
    const printable = fc.string({ minLength: 5, maxLength: 60 }).filter((text) => !text.includes('*'))
    fc.assert(
      fc.property(printable, fc.string(), fc.string(), (secret, before, after) => {
        const out = capturedOutput()
        out.hide([secret])
        out.print(before + secret + after)
        expect(out.text()).to.not.include(before + secret + after)
      }),
    )
  })

  it('shows words that only resemble a secret', () => {
    const out = capturedOutput()
    out.hide(['app', ''])
    out.print('the app is up')
    expect(out.text()).to.equal('the app is up\n')
  })
})
