import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { anOrder, orderUrl, orderWith, post } from '@orderflow/chaos/clients/api'
import type { Order } from '@orderflow/order-service/order'
import { eventually } from '@orderflow/stack/base'
import { expect } from 'chai'
import { failed, rowOf, succeeded } from '../specs/operations/commands.ts'
import { type LocalCheckout, localCheckout, type StartedCheckout } from '../support/checkouts/local-checkout.ts'

describe('a checkout with three brokers whose first broker loses its disk', function () {
  this.bail(true)
  let checkout: LocalCheckout
  let stack: StartedCheckout
  before(async function () {
    this.timeout(0)
    checkout = await localCheckout('lost-broker')
    stack = await checkout.start('BROKERS=3')
  })
  after(() => checkout?.remove())

  const data = (...path: string[]) => join(checkout.folder, '.stack/data', ...path)
  const place = async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const { id } = await eventually(async () => {
      const { status, body } = await post<Order>(`${orderUrl(stack)}/v1/orders`, anOrder, headers)
      return status === 201 ? body : undefined
    }, 'the order to be accepted')
    await orderWith(orderUrl(stack), id, 'Paid')
    return id
  }

  it('recovers with plain `make up`, and stays a cluster of three brokers', async () => {
    const before = await place()
    await stack.kill('kafka')
    rmSync(data('kafka'), { recursive: true })
    const meanwhile = await place()
    succeeded(await stack.make('up'))
    for (const id of [before, meanwhile]) expect((await orderWith(orderUrl(stack), id, 'Paid')).status).to.equal('Paid')
    await place()
    const printed = succeeded(await stack.make('status'))
    for (const name of ['kafka', 'kafka-2', 'kafka-3']) expect(printed).to.match(rowOf(name, 'running'))
    expect(failed(await stack.make('up', 'BROKERS=1'))).to.contain('the data of Kafka is from BROKERS=3')
  })

  it('recovers after a stop, too, although the shell names neither the runner nor the ports', async () => {
    const before = await place()
    succeeded(await stack.make('down'))
    rmSync(data('kafka'), { recursive: true })
    const printed = succeeded(await stack.orderflow(['up'], { STACK: '', PORT_OFFSET: '' }))
    expect(printed).to.contain('as processes, as at the last start')
    expect((await orderWith(orderUrl(stack), before, 'Paid')).status).to.equal('Paid')
    await place()
  })

  it('refuses to start an empty log if all disks are lost, and names the next step', async () => {
    succeeded(await stack.make('down'))
    rmSync(data(), { recursive: true })
    expect(failed(await stack.make('up'))).to.match(/Kafka has lost its log.*\nnext: .*\.\/orderflow clean/)
    expect(failed(await stack.make('up', 'BROKERS=1'))).to.contain('the data of Kafka is from BROKERS=3')
  })
})
