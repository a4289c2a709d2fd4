import { expect } from 'chai'
import { createLiveHub, type ToTab } from '../../page/lib/live-hub.ts'
import type { Problem } from '../../src/api/index.ts'

interface Opened {
  url: string
  authorization: string | null
  signal: AbortSignal
  send: (event: string, data: unknown) => void
  fail: (problem: Problem) => void
}

describe('createLiveHub', () => {
  let streams: Opened[]
  let hub: ReturnType<typeof createLiveHub>
  beforeEach(() => {
    const opened: Opened[] = []
    streams = opened
    hub = createLiveHub((url, { authorization, signal, onMessage }) => {
      return new Promise<never>((_, fail) => opened.push({ url, authorization, signal, send: onMessage, fail }))
    })
  })
  const pause = () => new Promise((resolve) => setTimeout(resolve, 50))
  const open = () => streams.filter(({ signal }) => !signal.aborted)
  const hello = (stream: Opened | undefined, view: number) =>
    stream?.send('hello', { view, batchMs: 100, maxRows: 20, completeness: { kept: 1, gaps: [] } })

  function tab(search: string, authorization: string | null = null) {
    const received: ToTab[] = []
    const leave = hub.join({ url: '/v1/live', search, authorization }, (message) => received.push(message))
    const texts = () =>
      received.map((each) =>
        each.kind === 'message' ? each.event : each.kind === 'ended' ? each.problem.title : each.kind,
      )
    return { received, texts, leave }
  }

  it('opens one view for each filter, and sends each tab only the messages of its filter', async () => {
    const [one, two, same] = [tab('?topic=a'), tab(''), tab('?topic=a')]
    await pause()
    expect(streams.map(({ url }) => url)).to.deep.equal(['/v1/live?view=topic%3Da&view='])
    for (const view of [0, 1]) hello(streams[0], view)
    streams[0]?.send('batch', { view: 0, completeness: { kept: 2 } })
    streams[0]?.send('job', { id: 'j' })
    expect(one.texts()).to.deep.equal(['joined', 'hello', 'batch', 'job'])
    expect(same.texts()).to.deep.equal(one.texts())
    expect(two.texts()).to.deep.equal(['joined', 'hello', 'job'])
  })

  it('gives a later tab with a known filter the newest state, and keeps the stream', async () => {
    tab('?topic=a')
    await pause()
    hello(streams[0], 0)
    streams[0]?.send('batch', { view: 0, completeness: { kept: 7 } })
    const later = tab('?topic=a')
    await pause()
    expect(streams).to.have.length(1)
    expect(later.received.at(-1)).to.deep.include({ event: 'hello' })
    expect(JSON.stringify(later.received.at(-1))).to.contain('"kept":7')
  })

  it('replaces the stream for a new filter without a pause', async () => {
    const one = tab('?topic=a')
    await pause()
    hello(streams[0], 0)
    tab('?topic=b')
    await pause()
    streams[0]?.send('batch', { view: 0 })
    expect(open()).to.have.length(2)
    for (const view of [0, 1]) hello(streams[1], view)
    streams[0]?.send('batch', { view: 0 })
    expect(open()).to.deep.equal([streams[1]])
    expect(one.texts()).to.deep.equal(['joined', 'hello', 'batch', 'hello'])
  })

  it('never gives a tab the stream of another credential', async () => {
    const [none, first] = [tab(''), tab('', 'Bearer one')]
    await pause()
    expect(streams.map(({ authorization }) => authorization)).to.deep.equal([null, 'Bearer one'])
    hello(streams[1], 0)
    streams[0]?.fail({ type: '', title: 'A key is required', status: 401 })
    await pause()
    expect(none.texts()).to.deep.equal(['joined', 'A key is required'])
    expect(first.texts()).to.deep.equal(['joined', 'hello'])
    tab('', 'Bearer two')
    tab('', 'Bearer three')
    const many = tab('', 'Bearer four')
    expect(many.texts()).to.deep.equal(['joined', 'Other tabs of this browser are signed in with several other keys'])
  })

  it('closes the stream when the last tab has left, and ends all tabs when it breaks', async () => {
    const [one, two] = [tab(''), tab('')]
    await pause()
    hello(streams[0], 0)
    one.leave()
    expect(open()).to.have.length(1)
    two.leave()
    expect(open()).to.have.length(0)
    const third = tab('')
    await pause()
    streams[1]?.fail({ type: '', title: 'gone', status: 0 })
    await pause()
    expect(third.texts()).to.deep.equal(['joined', 'gone'])
  })

  it('ends only the tab whose filter the monitor refuses', async () => {
    const [good, bad] = [tab('?topic=a'), tab('?guid=x')]
    await pause()
    const errors = [{ pointer: 'view/1/guid', detail: 'is not a GUID' }]
    streams[0]?.fail({ type: '', title: 'not valid', status: 400, errors })
    await pause()
    expect(bad.texts()).to.deep.equal(['joined', 'not valid'])
    expect(streams[1]?.url).to.equal('/v1/live?view=topic%3Da')
    hello(streams[1], 0)
    expect(good.texts()).to.deep.equal(['joined', 'hello'])
  })

  it('keeps the tabs of a working stream if its replacement fails', async () => {
    const one = tab('?topic=a')
    await pause()
    hello(streams[0], 0)
    const two = tab('?topic=b')
    await pause()
    streams[1]?.fail({ type: '', title: 'busy', status: 503 })
    await pause()
    streams[0]?.send('batch', { view: 0 })
    expect(one.texts()).to.deep.equal(['joined', 'hello', 'batch'])
    expect(two.texts()).to.deep.equal(['joined', 'busy'])
  })
})
