import { expect } from 'chai'
import { make } from './make.ts'
import { orderIsPaid, placeOrder, readAll } from './orders.ts'
import './running-stack.ts'
import { commands, parts, printed, topics, urls } from './system.ts'

describe('a rebuild', () => {
  for (const service of [parts.orders, parts.payments]) {
    it(`changes nothing in a complete store of ${service} and reports correct counts`, async () => {
      const placed = [await placeOrder(5), await placeOrder(6)]
      for (const { id } of placed) await orderIsPaid(id)
      const before = [await readAll(urls.orders), await readAll(urls.payments)]
      const output = await make(commands.rebuild(service))
      expect([await readAll(urls.orders), await readAll(urls.payments)]).to.deep.equal(before)
      const reports = [...output.matchAll(printed.rebuilt)]
      expect(reports.map(([, topic]) => topic)).to.have.members([topics.orders, topics.payments])
      for (const [, topic = '', ...figures] of reports) {
        const [read = 0, applied = 0, known = 0, unconcerned = 0] = figures.map(Number)
        const reasons = [...output.matchAll(printed.rebuiltSkipped(topic))].map(([, list = '']) => list).join()
        const skipped = (reasons.match(/\d+(?=,|$)/g) ?? []).map(Number).reduce((sum, count) => sum + count, 0)
        expect(read, output).to.be.at.least(2)
        expect(applied, output).to.equal(0)
        expect(known + unconcerned + skipped, output).to.equal(read)
      }
    })
  }
})
