import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { send } from '@orderflow/chaos/clients/api'
import { serversOf, services, sidecarOf } from '@orderflow/stack'
import { loopbacks, processNamesWith } from '@orderflow/stack/internals'
import { expect } from 'chai'
import type { LocalCheckout, StartedCheckout } from '../../support/checkouts/local-checkout.ts'
import { failed, orderflowFailed, succeeded } from './commands.ts'

export function withoutStack(found: () => LocalCheckout): void {
  describe('the commands without a running stack', () => {
    for (const command of ['status', 'down', 'clean']) {
      it(`./orderflow ${command} succeeds and reports that nothing runs`, async () => {
        const printed = succeeded(await found().orderflow([command]))
        expect(printed).to.match(/^(nothing (runs|was running|to remove)|stopped)/)
      })
    }

    const order = 'envelope-schema/fixtures/valid/reduced.json'
    for (const command of [['demo'], ['publish', order], ['rebuild', 'order-service']]) {
      it(`./orderflow ${command[0]} fails and names the next step`, async () => {
        expect(orderflowFailed(await found().orderflow(command))).to.match(/^error: .*not running\b.*\nnext: make up/m)
      })
    }

    it('`make up` starts nothing if a port is in use, and names the process that uses it', async () => {
      const { make, ports, parts } = found()
      const server = createServer().listen(ports.kafka, '127.0.0.1')
      await once(server, 'listening')
      const refused = await make('up')
      server.close()
      const taken = `port ${ports.kafka} (kafka broker) is in use by pid ${process.pid}`
      expect(failed(refused)).to.contain(taken).and.to.contain('PORT_OFFSET')
      expect(await parts()).to.deep.equal({})
    })
  })
}

export function localCommands(running: () => StartedCheckout): void {
  describe('the commands for a stack of processes', () => {
    it('`make up` prints the address of each service, and all services are ready', async () => {
      const printed = succeeded(running().up)
      expect(printed).to.contain('next: make demo')
      expect(Object.keys(await running().parts())).to.have.members(processNamesWith(serversOf(running().folder)))
      for (const { name } of services) {
        const [, url = ''] = new RegExp(`^${name} +(http://\\S+/) +https://`, 'm').exec(printed) ?? []
        expect((await send(`${url}readyz`)).status, name).to.equal(200)
      }
    })

    it('the services and Kafka accept connections on each loopback address', async () => {
      const [kafka = ''] = running().kafka.bootstrapBrokers
      const addresses = `${succeeded(running().up)} ${kafka}`.matchAll(/(?:localhost|127\.0\.0\.1):(\d+)/g)
      const ports = new Set(Array.from(addresses, ([, port]) => Number(port)))
      expect(ports.size).to.equal(2 * services.length + 1)
      for (const port of ports) {
        for (const host of loopbacks()) {
          const socket = connect({ port, host })
          await once(socket, 'connect')
          socket.destroy()
        }
      }
    })

    it('`./orderflow scale` reports that it needs containers', async () => {
      const scaled = await running().orderflow(['scale', 'payment-service', '3'])
      expect(orderflowFailed(scaled)).to.contain('replicas need a stack in containers')
    })

    it('`./orderflow publisher` reports that this Kafka has no authentication, and rejects a reserved name', async () => {
      const printed = succeeded(await running().orderflow(['publisher', 'legacy']))
      expect(printed).to.contain(
        `Kafka at ${running().kafka.bootstrapBrokers[0]} runs as a process and does not authenticate clients`,
      )
      expect(orderflowFailed(await running().orderflow(['publisher', 'order-service']))).to.match(
        /^error: .*services\nnext: /m,
      )
    })

    it('`./orderflow restart` restarts only a service and its sidecar', async () => {
      const before = await running().parts()
      expect(succeeded(await running().orderflow(['restart', 'payment-service']))).to.contain(
        'payment-sidecar: consuming',
      )
      const after = await running().parts()
      expect(after).to.have.all.keys(...Object.keys(before))
      const restarted = Object.keys(before).filter((name) => after[name] !== before[name])
      expect(restarted).to.have.members(['payment-service', 'payment-sidecar'])
    })

    it('`make up` restarts only a service whose code has changed, and afterwards nothing', async () => {
      const before = await running().parts()
      const program = join(running().folder, '../payment-service/src/main.ts')
      appendFileSync(program, '\n// A change.\n')
      expect(succeeded(await running().make('up'))).to.contain(
        'payment-service: restarting, because files have changed',
      )
      const after = await running().parts()
      expect(after).to.have.all.keys(...Object.keys(before))
      expect(Object.keys(before).filter((name) => after[name] !== before[name])).to.deep.equal(['payment-service'])
      expect(succeeded(await running().make('up'))).not.to.contain('restarting')
      expect(await running().parts()).to.deep.equal(after)
    })

    it('`make up` restarts the sidecars whose components have changed', async () => {
      const before = await running().parts()
      appendFileSync(join(running().folder, '../components/resiliency.yaml'), '# A change.\n')
      expect(succeeded(await running().make('up'))).to.contain('sidecar: restarting, because files have changed')
      const after = await running().parts()
      const restarted = Object.keys(before).filter((name) => after[name] !== before[name])
      expect(restarted).to.have.members(services.map(sidecarOf))
    })

    it('`./orderflow partitions` adds no partitions to the topics that `make up` has created', async () => {
      expect(succeeded(await running().orderflow(['partitions']))).to.contain(
        'every topic has the partitions of services.json',
      )
    })

    it('`make up` refuses to start containers while processes run', async () => {
      expect(failed(await running().make('up', 'STACK=docker'))).to.contain('the stack already runs (STACK=local)')
    })
  })
}
