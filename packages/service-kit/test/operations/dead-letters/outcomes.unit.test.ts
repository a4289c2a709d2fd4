import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { expect } from 'chai'
import { createEditCheck } from '../../../src/operations/dead-letters/edit.ts'
import { dryRunsIn } from '../../../src/operations/dead-letters/effects.ts'
import { type Entry, readDeadLetters } from '../../../src/operations/dead-letters/entries.ts'
import { outcomesOf } from '../../../src/operations/dead-letters/outcomes.ts'
import { OperationError } from '../../../src/operations/terminal.ts'
import { FakeLog } from '../../../src/testing/fake-log.ts'
import { bytesOf, event, fail } from './records.ts'

describe('the outcome of an edited dead letter in each service', () => {
  let server: Server
  let log: FakeLog
  let all: Entry[]
  const edited = bytesOf({ ...event, Payload: { ...event.Payload, Total: 2 } })
  before(async () => {
    // The service reports a conflict if it receives the original event.
    server = createServer(async (request, response) => {
      const { kept } = (await json(request)) as { kept?: unknown }
      const conflicts = kept ? ['/Payload/Total'] : []
      response.end(JSON.stringify({ result: 'no-effect', why: 'duplicate', publishes: [], conflicts }))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    log = new FakeLog()
    log.append({ topic: 'orderevents', key: 'k', value: bytesOf(event) })
    fail(log, 'payment-service', 0, 'too-late', { value: bytesOf(event) })
    all = (await readDeadLetters(log)).entries
  })
  after(() => {
    server.close()
    server.closeAllConnections()
  })

  const services = () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const dryRuns = dryRunsIn(`payment-service=${url} token,order-service=${url} token`)
    const consuming = ['order-service', 'payment-service', 'stock-service']
    return [
      ...consuming.map((name) => ({ name, consumes: ['orderevents'], dryRun: dryRuns.get(name) })),
      { name: 'mail-service', consumes: ['paymentevents'], dryRun: undefined },
    ]
  }

  it('names the services that have accepted the original event', async () => {
    const [entry] = all as [Entry]
    const { lines, contradicted } = await outcomesOf(log, services(), { entry, all, edited })
    expect(contradicted).to.deep.equal(['order-service'])
    expect(lines).to.deep.equal([
      'order-service  would change nothing; it has accepted the original event with other values in /Payload/Total',
      'payment-service  would change nothing',
      'stock-service  did not answer: the variable Monitor__DryRuns has no address of it; it has not rejected the original event, so it may keep other values',
    ])
  })

  it('stops a replay that contradicts a service, unless the operator confirms it or publishes nothing', async () => {
    const [entry] = all as [Entry]
    const attempt = 'orderevents/0/0'
    const check = (given: { dryRun: boolean; contradict: boolean }) =>
      createEditCheck(log, services(), all, given)(entry, edited, { file: 'event.json', attempt })
    const error = await check({ dryRun: false, contradict: false }).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(OperationError)
    expect((error as OperationError).message).to.contain('contradicts the data of order-service')
    expect((error as OperationError).nextStep).to.contain(`--file event.json --attempt ${attempt} --contradict`)
    await check({ dryRun: true, contradict: false })
    await check({ dryRun: false, contradict: true })
  })
})
