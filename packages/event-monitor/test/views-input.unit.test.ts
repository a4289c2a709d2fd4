import { HttpProblem } from '@orderflow/service-kit'
import { expect } from 'chai'
import type { LiveViews } from '../src/live-views.ts'
import type { Monitor } from '../src/monitor.ts'
import { liveRoutes } from '../src/routes/live.ts'
import { viewsInput } from '../src/routes/views-input.ts'

const read = (query: object) => viewsInput.read({ query } as never)

describe('viewsInput', () => {
  it('reads one filter from the parameters, or a filter from each view', () => {
    expect(read({ topic: 'a', partition: '2' })).to.deep.equal([{ topic: ['a'], partition: 2 }])
    expect(read({ view: '' })).to.deep.equal([{}])
    expect(read({ view: ['topic=a&topic=b', 'q=x+y'] })).to.deep.equal([{ topic: ['a', 'b'] }, { q: 'x y' }])
  })

  const wrong: [query: object, pointer: string][] = [
    [{ view: 'topic=a', topic: 'a' }, 'view'],
    [{ view: Array.from({ length: 51 }, () => '') }, 'view'],
    [{ view: ['', 'guid=x'] }, 'view/1/guid'],
    [{ view: ['', '', 'tpic=a'] }, 'view/2/tpic'],
    [{ view: ['validity=odd'] }, 'view/0/validity'],
  ]
  for (const [query, pointer] of wrong) {
    it(`refuses ${JSON.stringify(query).slice(0, 50)} and names ${pointer}`, () => {
      const error = (() => {
        try {
          return read(query)
        } catch (thrown) {
          return thrown
        }
      })()
      expect(error).to.be.instanceOf(HttpProblem)
      expect((error as HttpProblem).options.errors?.map((one) => one.pointer)).to.deep.equal([pointer])
    })
  }
})

describe('GET /v1/live', () => {
  it('sends the index of the filter with each message, sends a job once, and closes all views', () => {
    const sends: ((event: string, data: object) => boolean)[] = []
    const closed: number[] = []
    const views: Pick<LiveViews, 'open'> = {
      open(_, send) {
        const view = sends.push(send) - 1
        return () => closed.push(view)
      },
    }
    let open: ((input: object, send: (event: string, data: unknown) => boolean) => () => void) | undefined
    const streams = {
      end() {},
      route(definition: { open: typeof open }) {
        open = definition.open
        return {} as never
      },
    }
    liveRoutes({ views } as Monitor, streams as never)
    const sent: unknown[] = []
    const close = open?.({ filters: [{}, { topic: ['a'] }] }, (event, data) => sent.push([event, data]) > 0)
    for (const send of sends) {
      send('batch', { sequence: 1 })
      send('job', { id: 'j' })
    }
    close?.()
    expect(sent).to.deep.equal([
      ['batch', { sequence: 1, view: 0 }],
      ['job', { id: 'j' }],
      ['batch', { sequence: 1, view: 1 }],
    ])
    expect(closed).to.deep.equal([0, 1])
  })
})
