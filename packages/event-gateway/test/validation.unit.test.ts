import { expect } from 'chai'
import type { Judged } from '../src/routes.ts'
import { envelope, full } from './envelopes.ts'
import { gateway, lines } from './gateway.ts'

describe('event-gateway', () => {
  const { request, published } = gateway()

  describe('validation', () => {
    const judge = (body: string | object, query = '', headers = {}) =>
      request<{ mode: string; items: Judged[] }>(`/v1/envelopes/validate${query}`, body, headers)

    it('returns the problems of each envelope by the rules of publishers or receivers, without publishing', async () => {
      const { status, body } = await judge([full(), envelope()])
      expect([status, body.mode]).to.deep.equal([200, 'publisher'])
      expect(body.items.map(({ valid, variant }) => [valid, variant])).to.deep.equal([
        [true, 'full'],
        [false, 'reduced'],
      ])
      const received = await judge([full(), envelope()], '?mode=receiver')
      expect(received.body.items.map(({ valid }) => valid)).to.deep.equal([true, true])
      expect(published()).to.deep.equal([])
    })

    it('returns the line number of each envelope', async () => {
      const { body } = await judge(`\n${JSON.stringify(full())}\n{`, '', lines)
      expect(body.items.map(({ line, valid, code }) => [line, valid, code])).to.deep.equal([
        [2, true, undefined],
        [3, false, 'not-json'],
      ])
    })
  })
})
