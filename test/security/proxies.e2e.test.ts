import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { freePort } from '@orderflow/stack/internals'
import { expect } from 'chai'
import { succeeded } from '../specs/operations/commands.ts'
import { type LocalCheckout, localCheckout } from '../support/checkouts/local-checkout.ts'

const lower = ['http_proxy', 'https_proxy', 'all_proxy', 'grpc_proxy']
const names = [...lower, ...lower.map((name) => name.toUpperCase())]

/** The commands run in the order of a working day. `./orderflow rebuild` also calls the sidecar. */
const commands = [
  ['up'],
  ['demo'],
  ['status'],
  ['dead-letters'],
  ['rebuild', 'order-service'],
  ['restart', 'payment-service'],
]

describe('a stack whose environment names a proxy', () => {
  let checkout: LocalCheckout
  let proxy: Server
  let connected: number
  before(async () => {
    checkout = await localCheckout('proxies')
    connected = 0
    proxy = createServer((socket) => {
      connected += 1
      socket.destroy()
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
  })
  after(async () => {
    proxy?.close()
    await checkout?.remove()
  })

  async function run(commands: string[][], url: string) {
    const env = { ...Object.fromEntries(names.map((name) => [name, url])), NODE_USE_ENV_PROXY: '1' }
    for (const command of commands) {
      succeeded(await checkout.orderflow(command, { ...env, no_proxy: '', NO_PROXY: 'corp.example' }))
    }
  }

  it('pays an order, and no program connects to the proxy', async () => {
    await run([...commands, ['down']], `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`)
    expect(connected).to.equal(0)
  })

  it('pays an order if the proxy is down', async () => {
    await run([['up'], ['demo'], ['down']], `http://127.0.0.1:${await freePort()}`)
  })
})
