import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { anOrder, orderUrl, orderWith, paymentsOf, paymentUrl, post, send } from '@orderflow/chaos/clients/api'
import { reduced } from '@orderflow/chaos/clients/envelopes'
import type { Order } from '@orderflow/order-service/order'
import { type RunningStack, services, storedServices } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import type { Ended } from '@orderflow/test-kit/stacks'
import { expect } from 'chai'

/** The stack of a checkout, started with `make up` by any runner. */
export interface OperatedStack extends RunningStack {
  make: (...args: string[]) => Promise<Ended>
  orderflow: (args: string[], env?: Record<string, string>) => Promise<Ended>
  /** Returns the running parts by name, each with a text that changes when the part is restarted. */
  parts: () => Promise<Record<string, string>>
}

/** The last test stops the stack and removes its data. */
export function operatorCommands(operated: () => OperatedStack): void {
  describe('the operator’s commands', () => {
    let folder: string
    before(() => {
      folder = mkdtempSync(join(tmpdir(), 'commands-'))
    })
    after(() => rmSync(folder, { recursive: true, force: true }))

    const make = (...args: string[]) => operated().make(...args)
    const orderflow = (...args: string[]) => operated().orderflow(args)
    const place = () => post<Order>(`${orderUrl(operated())}/v1/orders`, anOrder)
    const succeeds = async (...args: string[]) => succeeded(await make(...args))
    const fails = async (...args: string[]) => failed(await make(...args))

    it('`make status` lists each part as running', async () => {
      // After the rebuild of an earlier spec, a service is not ready until it has compared its store with the log.
      const printed = await eventually(async () => {
        const { code, stdout } = await make('status')
        return code === 0 ? stdout : undefined
      }, 'every part to be ready')
      for (const name of Object.keys(await operated().parts())) expect(printed).to.match(rowOf(name, 'running'))
      expect(printed).not.to.contain('some parts have failed')
    })

    it('`make demo` shows the events of an order until the order is paid', async () => {
      const printed = await succeeds('demo')
      const told = ['is Created', 'event OrderCreated', 'event PaymentApproved', 'is Paid', 'the order is paid']
      for (const what of told) expect(printed).to.contain(what)
      const [, id = ''] = /order (\S+) is Created/.exec(printed) ?? []
      expect((await orderWith(orderUrl(operated()), id, 'Paid')).customerName).to.equal('Ada Lovelace')
    })

    it('`./orderflow publish` publishes an event, and `make dead-letters` shows an event that services cannot handle', async () => {
      const event = reduced()
      const fileOf = (content: object) => {
        const file = join(folder, `${randomUUID()}.json`)
        writeFileSync(file, JSON.stringify(content))
        return file
      }
      expect(succeeded(await orderflow('publish', fileOf(event)))).to.contain('published to orderevents')
      await orderWith(orderUrl(operated()), event.Payload.OrderId, 'Paid')
      const wrong = fileOf({ ...event, Payload: { ...event.Payload, Total: 'much' } })
      expect(orderflowFailed(await orderflow('publish', wrong))).to.contain('/Payload/Total')
      succeeded(await orderflow('publish', wrong, '--raw'))
      await eventually(async () => {
        const printed = await succeeds('dead-letters')
        return storedServices.every(({ name }) => printed.includes(`invalid-payload/${name}`))
      }, 'the dead letters of every service')
    })

    it('`make rebuild` reads the log from a given time on and changes nothing, and refuses an invalid time', async () => {
      const from = `FROM=${new Date().toISOString()}`
      await orderWith(orderUrl(operated()), (await place()).body.id, 'Paid')
      expect(await succeeds('rebuild', 'SERVICE=order-service', from)).to.match(
        /^orderevents: [1-9]\d* read: 0 applied/m,
      )
      const wrong = await fails('rebuild', 'SERVICE=order-service', 'FROM=2026-11-21T10:00')
      expect(wrong).to.match(
        /^error: --from must be a date-time with an offset.*; add Z or an offset.*\nnext: rebuild/m,
      )
    })

    it('`./orderflow deadlines` finds the entities of the log, and keeps their deadlines and calls', async () => {
      await orderWith(orderUrl(operated()), (await place()).body.id, 'Paid')
      const printed = succeeded(await orderflow('deadlines', 'order-service'))
      expect(printed).to.match(/^orderevents: [1-9]\d* read: 0 with new deadlines/m)
      const called = succeeded(await orderflow('deadlines', 'payment-service'))
      expect(called).to.match(/^paymentevents: [1-9]\d* read: 0 with new deadlines/m)
    })

    it('`make logs` shows the logs of all services, or of one service', async () => {
      const printed = await succeeds('logs', 'FOLLOW=0')
      for (const { name } of services) expect(printed).to.contain(`"app":"${name}"`).and.to.contain(`app_id=${name}`)
      const one = await succeeds('logs', 'FOLLOW=0', 'SERVICE=payment-service')
      expect(one).to.contain('"app":"payment-service"').and.not.to.contain('"app":"order-service"')
      expect(one).not.to.contain('app_id=')
    })

    it('`make up` changes nothing if everything runs', async () => {
      const before = await operated().parts()
      expect(await succeeds('up')).to.contain('next: make demo')
      expect(await operated().parts()).to.deep.equal(before)
    })

    it('`make status` names killed parts, `make up` starts only these parts, and an order that was placed in between is paid once', async () => {
      const before = await operated().parts()
      const dead = ['payment-service', 'payment-sidecar']
      for (const name of dead) await operated().kill(name)
      const { status, body } = await place()
      expect(status).to.equal(201)
      const printed = await fails('status')
      expect(printed).to.contain('next: make up')
      for (const name of dead) {
        expect(printed).not.to.match(rowOf(name, 'running'))
        expect(printed).to.match(new RegExp(`some parts have failed: .*\\b${name} \\(`))
      }
      await succeeds('up')
      const after = await operated().parts()
      expect(after).to.have.all.keys(...Object.keys(before))
      expect(Object.keys(before).filter((name) => after[name] !== before[name])).to.have.members(dead)
      await succeeds('status')
      await orderWith(orderUrl(operated()), body.id, 'Paid')
      expect(await paymentsOf(paymentUrl(operated()), body.id)).to.have.length(1)
    })

    it('`make down` stops everything, and `make up` continues with the same data', async () => {
      const { id } = (await place()).body
      const paid = await orderWith(orderUrl(operated()), id, 'Paid')
      await succeeds('down')
      expect(await operated().parts()).to.deep.equal({})
      expect(await succeeds('status')).to.contain('make up')
      expect(await succeeds('down')).to.contain('nothing was running')
      expect(await fails('demo'))
        .to.contain('not running')
        .and.to.contain('next: make up')
      await succeeds('up')
      expect((await send<Order>(`${orderUrl(operated())}/v1/orders/${id}`)).body).to.deep.equal(paid)
    })

    it('`./orderflow clean` removes the data, but refuses to do so while the stack runs', async () => {
      expect(orderflowFailed(await orderflow('clean'))).to.contain('error: the stack is running\nnext: make down')
      await succeeds('down')
      expect(succeeded(await orderflow('clean'))).to.contain('removed ')
      expect(succeeded(await orderflow('clean'))).to.contain('nothing to remove')
    })
  })
}

export const rowOf = (name: string, state: string) => new RegExp(`^${name} +${state}\\b`, 'm')

export function succeeded({ code, stdout, stderr }: Ended): string {
  expect(code, stdout + stderr).to.equal(0)
  return stdout
}

/** Returns the output of a make target that must fail. The exit code of `make` must be 2. */
export function failed({ code, stdout, stderr }: Ended): string {
  expect(code, stdout + stderr).to.equal(2)
  return stdout + stderr
}

export function orderflowFailed({ code, stdout, stderr }: Ended): string {
  expect(code, stdout + stderr).to.equal(1)
  return stdout + stderr
}
