import { expect } from 'chai'
import { hrefs, positionIn, positionText, routeOf } from '../../page/lib/route.ts'

describe('the paths of the page', () => {
  const position = { topic: 'order events/ä', partition: 2, offset: '9007199254740993' }

  it('finds the view, id and position for which a link was created', () => {
    expect(routeOf(hrefs.event(position))).to.deep.equal({ view: 'event', position })
    expect(routeOf(hrefs.conversation('a/b'))).to.deep.equal({ view: 'conversation', correlationId: 'a/b' })
    expect(routeOf(hrefs.entry('x y'))).to.deep.equal({ view: 'dead-entry', entry: 'x y' })
    expect(routeOf(hrefs.id('1%2'))).to.deep.equal({ view: 'id', id: '1%2' })
  })

  it('finds the view for each path of the navigation', () => {
    const views = ['/', '/dead', '/missing', '/deadlines', '/publishers', '/schemas', '/health', '/audit'].map(
      (path) => routeOf(path).view,
    )
    expect(views).to.deep.equal(['live', 'dead', 'missing', 'deadlines', 'publishers', 'schemas', 'health', 'audit'])
  })

  for (const path of [
    '/nowhere',
    '/e/orderevents/x/1',
    '/e/orderevents/1',
    '/health/more',
    '/c/',
    '/%',
    '/constructor',
  ]) {
    it(`returns no view for the path ${path}`, () => expect(routeOf(path)).to.deep.equal({ view: 'not-found', path }))
  }

  it('finds a record position in a typed text', () => {
    expect(positionIn(' orderevents/2/12 ')).to.deep.equal({ topic: 'orderevents', partition: 2, offset: '12' })
    expect(positionText(positionIn('/e/orderevents.dead/0/7') ?? position)).to.equal('orderevents.dead/0/7')
    expect(positionIn('some/words')).to.equal(undefined)
  })
})
