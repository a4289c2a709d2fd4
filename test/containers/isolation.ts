import { anOrder, orderUrl, orderWith, post } from '@orderflow/chaos/clients/api'
import { defaultPorts, entryOf, services, storedServices } from '@orderflow/stack'
import { loopbacks } from '@orderflow/stack/internals'
import { inspectContainers, openContainer, storeServer } from '@orderflow/test-kit/containers'
import { openStores } from '@orderflow/test-kit/stacks'
import { expect } from 'chai'
import type { RunningContainers } from './running-containers.ts'

/** The ports that are open to the network, and the ports that only a service and its sidecar use. */
const { http, https, metrics, daprMetrics, ...inner } = entryOf(defaultPorts.services, 'order-service')
const open = [http, https, metrics, daprMetrics]
const closed = Object.values(inner)

export function isolation(running: () => RunningContainers): void {
  describe('the private network of containers', () => {
    let stack: RunningContainers
    before(() => {
      stack = running()
    })

    it('allows access to the public and metrics ports of another pod, but not to its internal ports', async () => {
      const neighbour = await openContainer(stack.project, 'payment-service')
      const script = `const connect = (port) => new Promise((resolve) => {
          const socket = net.connect(port, 'order-pod', () => resolve('open')).on('error', ({ code }) => resolve(code))
          setTimeout(resolve, 5_000, 'silent').unref()
        })
        Promise.all(process.env.PORTS.split(',').map(Number).map(connect)).then((found) => {
          console.log(JSON.stringify(found))
          process.exit()
        })`
      const connect = async (ports: number[]) =>
        JSON.parse(await neighbour.exec(['node', '-e', script], { PORTS: ports.join() }))
      expect(await connect(open)).to.deep.equal(open.map(() => 'open'))
      expect(await connect(closed)).to.deep.equal(closed.map(() => 'ECONNREFUSED'))
    })

    it(`requires the password of ${storeServer}`, async () => {
      const url = new URL(stack.settings.storeUri)
      url.password = 'guessed'
      const stranger = openStores(url.href)
      const refusal = await stranger.read('order-service').catch((error: Error) => error.message)
      expect(refusal).to.match(/^(password authentication failed for user "orderflow"|authentication failed\.?)$/i)
      await stranger.close()
    })

    it('gives each sidecar a user of the store, who may only use the database of its service', async () => {
      for (const service of storedServices) {
        const stores = openStores(stack.settings.sidecarUri(service))
        await stores.read(service.name)
        for (const { name } of storedServices.filter((other) => other !== service)) {
          const refusal = await stores.read(name).catch((error: Error) => error.message)
          expect(refusal, `${service.name} in ${name}`).to.match(/permission denied|not authorized/i)
        }
        await stores.close()
      }
    })

    it('publishes ports only on loopback', async () => {
      const containers = await inspectContainers(stack.project)
      const bindings = containers.flatMap(({ HostConfig }) => Object.values(HostConfig.PortBindings ?? {}).flat())
      const ports = loopbacks().flatMap((address) => Array<string>(2 * services.length + 2).fill(address))
      expect(bindings.map(({ HostIp }) => HostIp)).to.have.members(ports)
    })

    it('keeps secrets and tax ids out of the arguments of processes and out of logs', async () => {
      const customerTaxId = `TAX-${crypto.randomUUID()}`
      const { body } = await post<{ id: string }>(`${orderUrl(stack)}/v1/orders`, { ...anOrder, customerTaxId })
      await orderWith(orderUrl(stack), body.id, 'Paid')
      const log = await stack.log()
      expect(log).to.contain('order-service-1').and.to.contain('kafka-1')
      const started = (await inspectContainers(stack.project)).map(({ Path, Args }) => [Path, ...Args].join(' '))
      const secrets = Object.values(stack.settings.secrets)
      expect(secrets).to.have.length(8 + 3 * services.length + 2 * storedServices.length)
      for (const secret of [...secrets, customerTaxId]) {
        for (const text of [log, ...started]) expect(text.includes(secret)).to.equal(false)
      }
    })
  })
}
