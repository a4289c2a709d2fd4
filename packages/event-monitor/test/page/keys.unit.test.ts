import { expect } from 'chai'
import { keyReader } from '../../page/lib/keys.ts'

describe('the keys of the page', () => {
  const press = (keys: string[], some: object = {}, now = () => 0) => {
    const read = keyReader(now)
    return keys.map((key) => read({ key, isChord: false, isTyping: false, isOnControl: false, ...some })).at(-1)
  }

  it('returns the commands to select a row, open it and go back', () => {
    expect(press(['j'])).to.deep.equal({ does: 'next' })
    expect(press(['k'])).to.deep.equal({ does: 'previous' })
    expect(press(['Enter'])).to.deep.equal({ does: 'open' })
    expect(press(['Escape'])).to.deep.equal({ does: 'back' })
    expect(press(['/'])).to.deep.equal({ does: 'search' })
  })

  it('returns the command to open a view if a second key follows g within one second', () => {
    expect(press(['g', 'd'])).to.deep.equal({ does: 'go', href: '/dead' })
    let time = 0
    const late = () => {
      time += 1001
      return time
    }
    expect(press(['g', 'd'], {}, late)).to.equal(undefined)
    expect(press(['g', 'j'])).to.deep.equal({ does: 'next' })
    expect(press(['g', 'constructor'])).to.equal(undefined)
  })

  it('ignores all keys in a text field except Escape, which leaves the field', () => {
    expect(press(['g', 'd'], { isTyping: true })).to.equal(undefined)
    expect(press(['Escape'], { isTyping: true })).to.deep.equal({ does: 'leave' })
  })

  it('ignores keys that belong to the browser', () => {
    expect(press(['j'], { isChord: true })).to.equal(undefined)
    expect(press([' '], { isOnControl: true })).to.equal(undefined)
    expect(press(['Enter'], { isOnControl: true })).to.equal(undefined)
  })
})
