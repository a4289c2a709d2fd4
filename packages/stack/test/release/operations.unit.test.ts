import { expect } from 'chai'
import { openerOf } from '../../src/release/operations.ts'

describe('./orderflow open', () => {
  it('opens the page only on a desktop, with the desktop’s own program', () => {
    expect(openerOf('darwin', {})).to.equal('open')
    expect(openerOf('linux', { DISPLAY: ':0' })).to.equal('xdg-open')
    expect(openerOf('linux', { WAYLAND_DISPLAY: 'wayland-0' })).to.equal('xdg-open')
    expect(openerOf('linux', {})).to.equal(undefined)
  })
})
