import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { contractFolder, type ReceivedEnvelope } from '@orderflow/envelope'
import { type AllParts, handledTypes, readSettings, type ServiceDefinition, SidecarError } from '@orderflow/service-kit'
import { publisherOf, type Subject, send, withServer } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import { badRequestsOf, expectRefused, refusalTitle } from '../specs/bad-request-cases.ts'
import { poisonOfAll } from '../specs/poison-records.ts'
import { demoOf, expectDemo } from './demo.ts'
import { fixtures } from './fixtures.ts'
import { type MemoryService, memoryServices, memoryTokens, recordOf } from './memory-service.ts'
import { keepReads, type Reads, readsFile } from './reads.ts'
import { keepStates, statesFolder } from './states.ts'
import type { Step } from './steps.ts'

type Handlers = AllParts['reactions'][string]

/**
 * Declares the specs that every service must pass in memory. The other specs need a running stack (@orderflow/test-kit). Test files of the service
 * are in its folder `test`, and fixtures in `test/fixtures`.
 * @param states steps that lead to documents of entities, by a name: `{ expired: [created, later('30 minutes')] }`. They are kept in `test/states/`,
 * together with the documents of an event of the subject
 */
export function memorySpecs<S extends object>(
  service: ServiceDefinition<S>,
  subject: Subject,
  states: Record<string, readonly Step[]> = {},
): void {
  const reads: Reads = new Map()
  const start = memoryServices(service, {}, reads)
  const { parts } = start()

  for (const [what, bad] of Object.entries(badRequestsOf(parts.routes, subject))) {
    it(refusalTitle(what, bad), () =>
      withServer(start().web, async (url) => expectRefused(await send(url + bad.path, bad.init), bad)),
    )
  }

  for (const [topic, handlers] of Object.entries<Handlers>(parts.reactions)) {
    for (const { what, value, reason, tells } of poisonOfAll(handledTypes(handlers))) {
      it(`creates a dead letter with the reason: ${what}, on ${topic}`, async () => {
        const memory = start()
        await memory.deliver({ topic, key: 'a key', value: value === null ? null : Buffer.from(value) })
        expect(memory.rejected.map((rejected) => rejected.reason)).to.deep.equal([reason])
        expect(memory.rejected[0]?.detail).to.contain(tells)
      })
    }
    for (const { name, envelope } of contractFixtures(handlers)) {
      it(`handles the contract's fixture ${name}, or refuses it for a declared reason`, async () => {
        const memory = start()
        await memory.deliver(recordOf({ topic, key: undefined, envelope }))
        for (const { reason } of memory.rejected) expect(Object.keys(service.refusals)).to.include(reason)
      })
    }
  }

  it('handles an event again if the store fails, with the same result', async () => {
    const record = recordOf(subject.event())
    const [failing, other] = [start(), start()]
    failing.failNextWrite(new SidecarError('write state', new Error('connection refused')))
    for (const memory of [failing, other]) {
      await memory.deliver(record)
      expect(memory.rejected).to.deep.equal([])
    }
    expect(failing.deliveries).to.equal(2)
    expect(Object.keys(failing.documents())).to.deep.equal(Object.keys(other.documents())).and.not.to.deep.equal([])
  })

  it('stores and publishes the same for one delivery of an event and for two', async () => {
    const record = recordOf(subject.event())
    const [once, twice] = [start(), start()]
    for (const memory of [once, twice, twice]) await memory.deliver(record)
    expect(twice.documents()).to.deep.equal(once.documents())
    expect(textsOf(twice)).to.deep.equal(textsOf(once))
  })

  const demo = demoOf(readSettings(service, memoryTokens).App.Name)
  if (demo) it('accepts the request of `make demo` in services.json', () => expectDemo(start(), demo))

  fixtures(service, new URL('test/fixtures/', service.root))

  if (parts.entities?.length)
    it(`reads the documents of earlier releases in ${statesFolder}`, () =>
      keepStates(service, { 'an event': [recordOf(subject.event())], ...states }))

  it(`lists in ${readsFile} the fields that the reactions read`, () => keepReads(service.root, reads))
}

/** Returns the different events that a service published, as text. */
const textsOf = ({ published }: MemoryService) => [
  ...new Set(published.map(({ value }) => Buffer.from(value).toString())),
]

/** Returns the valid events of the contract's fixtures that have one of these handlers, from an application that may publish them. */
function contractFixtures(handlers: Handlers): { name: string; envelope: ReceivedEnvelope }[] {
  const folder = new URL('fixtures/valid/', contractFolder)
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) => {
    const { envelope, verdict } = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as {
      envelope?: ReceivedEnvelope
      verdict?: { received: boolean }
    }
    if (!envelope || !verdict?.received || !Object.hasOwn(handlers, envelope.Name)) return []
    const app = publisherOf(envelope.Name)
    return [{ name, envelope: { ...envelope, AppId: app.id, AppName: app.name } }]
  })
}
