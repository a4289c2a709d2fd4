import { anOrder, orderUrl, orderWith, post, send } from '@orderflow/chaos/clients/api'
import type { Order } from '@orderflow/order-service/order'
import { entryOf, freePorts, type LocalStack, services, startStack } from '@orderflow/stack'
import { eventually, testFolder } from '@orderflow/stack/base'
import { processState, residentBytes } from '@orderflow/stack/internals'
import { expect } from 'chai'
import { idleConnections } from './support/idle.ts'
import { testssl } from './support/testssl.ts'

/** Findings that are caused by the self-signed certificate of a local stack. */
const ofSelfSigned = ['cert_chain_of_trust', 'cert_revocation']

/** A warning about the scanning machine, which has no GOST ciphers. Services never offer these ciphers. */
const ofTheScanner = ['engine_problem']

/** The limit of open connections per port (packages/service-kit/src/runtime/process/listener.ts). */
const kept = 4_000

describe('the listener of a running service', () => {
  let stack: LocalStack
  before(async () => {
    stack = await startStack({ folder: testFolder('security'), ports: await freePorts(), detached: false })
  })
  after(() => stack?.stop())

  for (const { name } of services) {
    it(`passes testssl.sh except for its self-signed certificate: ${name}`, async () => {
      const findings = await testssl(entryOf(stack.services, name).httpsUrl)
      // Since version 3.2, testssl.sh uses the name FS instead of PFS.
      const ids = findings.map(({ id }) => id.replace(/^PFS/, 'FS'))
      expect(ids).to.include.members([
        'SSLv3',
        'TLS1',
        'TLS1_1',
        'TLS1_2',
        'TLS1_3',
        'FS_ciphers',
        'heartbleed',
        'LUCKY13',
        'HSTS_time',
      ])
      const harmless = ['OK', 'INFO', 'LOW']
      const known = [...ofSelfSigned, ...ofTheScanner]
      const worse = findings.filter(({ id, severity }) => !harmless.includes(severity) && !known.includes(id))
      expect(worse).to.deep.equal([])
    })
  }

  function memoryOfOrders(): number {
    const state = processState(stack.folder, 'order-service')
    return state.state === 'running' ? residentBytes(state.pid) / 2 ** 20 : Number.NaN
  }

  const idle: Record<string, string> = {
    'say nothing': '',
    'have had an answer': 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n',
    'are in the middle of their headers': 'GET /v1/orders HTTP/1.1\r\nHost: a\r\nX: ',
    'are in the middle of a body':
      'POST /v1/orders HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
  }
  for (const [what, sent] of Object.entries(idle)) {
    it(`accepts orders with little memory while ten thousand connections ${what}`, async () => {
      const before = memoryOfOrders()
      const connections = await idleConnections(orderUrl(stack), 10_000, sent)
      try {
        await eventually(() => connections.open() <= kept || undefined, `at most ${kept} connections`)
        expect(connections.open()).to.be.above(0)
        const taken = memoryOfOrders() - before
        console.log(`      ${connections.open()} are left, for which order-service has ${Math.round(taken)} MiB more`)
        expect(taken).to.be.below(150)
        const { status, body } = await post<Order>(`${orderUrl(stack)}/v1/orders`, anOrder)
        expect(status).to.equal(201)
        await orderWith(orderUrl(stack), body.id, 'Paid')
        expect((await send(`${orderUrl(stack)}/readyz`)).status).to.equal(200)
      } finally {
        connections.close()
      }
    })
  }
})
