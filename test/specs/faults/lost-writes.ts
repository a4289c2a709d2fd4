import { anOrder, orderUrl, orderWith, type ProblemBody, post, send } from '@orderflow/chaos/clients/api'
import type { Order } from '@orderflow/order-service/order'
import { type RunningStack, storedServices, urlOf } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { type Operator, settled } from '@orderflow/test-kit'
import { expect } from 'chai'

/** Replaces the stores with older copies, as a failover to a standby does that was behind. */
export function lostWrites(running: () => RunningStack, operator: () => Operator): void {
  describe('a store that lost acknowledged writes', () => {
    const url = () => `${orderUrl(running())}/v1/orders`
    const place = async () => (await post<Order>(url(), anOrder)).body.id
    const documents = async () =>
      await Promise.all(storedServices.map(async ({ role }) => await operator().documents(role)))
    const reasonOf = (name: string) =>
      eventually(
        async () => {
          const answer = await fetch(`${urlOf(running(), name)}/readyz`)
          return answer.ok ? undefined : await answer.text()
        },
        `${name} to be unready`,
        15_000,
      )

    it('stops its services, which name the rebuild and continue after it', async () => {
      const kept = await place()
      await orderWith(orderUrl(running()), kept, 'Paid')
      await settled(running(), async () => {})
      const loseWrites = await operator().copyStores()
      const lost = await place()
      await orderWith(orderUrl(running()), lost, 'Paid')
      const cancelled = await post<Order>(`${url()}/${kept}/cancel`, undefined)
      expect(cancelled.status).to.be.below(300)
      await orderWith(orderUrl(running()), kept, 'Refunded')
      const complete = await settled(running(), documents)

      await loseWrites()
      for (const { name } of storedServices) {
        expect(await reasonOf(name)).to.contain(`make rebuild SERVICE=${name}`)
      }
      const refused = await send<ProblemBody>(`${url()}/${lost}`)
      expect([refused.status, refused.body.detail]).to.deep.equal([
        503,
        'The store lost data. Try again after its rebuild.',
      ])
      const later = await place()
      const late = await send<Order>(`${url()}/${later}`)
      expect(late.status).to.equal(503)

      for (const { role } of storedServices) await operator().rebuild(role)
      await orderWith(orderUrl(running()), lost, 'Paid')
      await orderWith(orderUrl(running()), kept, 'Refunded')
      await orderWith(orderUrl(running()), later, 'Paid')
      const rebuilt = await settled(running(), documents)
      for (const [index, before] of complete.entries()) expect(rebuilt[index]).to.deep.include(before)
    })
  })
}
