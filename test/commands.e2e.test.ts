import { once } from 'node:events'
import { createServer } from 'node:net'
import { send } from '@orderflow/chaos/clients/api'
import { services } from '@orderflow/stack'
import { processNames } from '@orderflow/stack/parts'
import { expect } from 'chai'
import { failed, operatorCommands, succeeded } from './specs/commands.ts'
import { type LocalCheckout, localCheckout } from './support/local-checkout.ts'
import type { Ended } from './support/operate.ts'

describe('the commands, on processes of one machine,', function () {
  this.timeout(180_000)
  let checkout: LocalCheckout
  before(async () => {
    checkout = await localCheckout()
  })
  after(() => checkout?.remove())

  describe('while nothing runs', () => {
    for (const command of ['status', 'down', 'clean']) {
      it(`make ${command} says so, which is no error`, async () => {
        const printed = succeeded(await checkout.make(command))
        expect(printed).to.match(/^(nothing (runs|was running|to remove)|stopped)/)
      })
    }

    const order = 'FILE=envelope-schema/fixtures/valid/reduced.json'
    for (const command of [['demo'], ['publish', order], ['rebuild', 'SERVICE=order-service']]) {
      it(`make ${command[0]} is refused, and says what starts the stack`, async () => {
        expect(failed(await checkout.make(...command))).to.match(/^error: .*\nnext: /m)
      })
    }

    it('make up starts nothing when a port is taken, and says by whom', async () => {
      const server = createServer().listen(checkout.ports.kafka, '127.0.0.1')
      await once(server, 'listening')
      const refused = await checkout.make('up')
      server.close()
      const taken = `port ${checkout.ports.kafka} (kafka broker) is in use by pid ${process.pid}`
      expect(failed(refused)).to.contain(taken)
      expect(await checkout.parts()).to.deep.equal({})
    })
  })

  describe('when make up has ended,', () => {
    let started: Ended
    before(async () => {
      started = await checkout.make('up')
    })

    it('it has said where each service is, and there it is ready', async () => {
      const printed = succeeded(started)
      expect(printed).to.contain('next: make demo')
      expect(Object.keys(await checkout.parts())).to.have.members(processNames)
      for (const { name } of services) {
        const [, url = ''] = new RegExp(`^${name} +(http://\\S+/) +https://`, 'm').exec(printed) ?? []
        expect((await send(`${url}readyz`)).status, name).to.equal(200)
      }
    })

    it('make scale says that it needs containers', async () => {
      const scaled = await checkout.make('scale', 'SERVICE=payment-service', 'N=3')
      expect(failed(scaled)).to.contain('replicas need the stack in containers')
    })

    it('make up does not run it in containers besides', async () => {
      expect(failed(await checkout.make('up', 'STACK=docker'))).to.contain('the stack runs already (STACK=local)')
    })

    operatorCommands(() => checkout)
  })
})
