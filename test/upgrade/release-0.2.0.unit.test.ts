import { readFileSync } from 'node:fs'
import { createDocuments, createLog, createParts, readTrust } from '@orderflow/service-kit'
import { expect } from 'chai'
import { consumed, type LogRecord, type Request, type Role, roles, startBoth, tenants } from './both-services.ts'

interface Thing {
  id: string
  createdAt: string
  correlationId: string
  traceId: string
}
type Views = Record<string, Thing[]>
type Handler = (envelope: object) => Promise<boolean>

/** The data of both services of release 0.2.0 at one moment, and after their next steps. */
interface Release {
  log: { topic: string; key: string; envelope: { Id: string; Name: string; Payload: { PaymentId?: string } } }[]
  /** The indexes of the records that a service has not handled. */
  backlog: Record<Role, number[]>
  views: Views
  requests: { request: Request; status: number; id: string }[]
  later: { ids: Record<string, string>; views: Views }
}
const release: Release = JSON.parse(readFileSync(new URL('release-0.2.0.json', import.meta.url), 'utf8'))

/**
 * Returns things by id, without the time and the trace. They differ if an event was not in the log, because its request or its cause is then decided again.
 */
const lasting = (views: Views): object =>
  Object.values(views).map((things) =>
    Object.fromEntries(
      things.map(({ id, createdAt: _, correlationId: _correlation, traceId: _trace, ...thing }) => [id, thing]),
    ),
  )

describe('the data of release 0.2.0', () => {
  let both: ReturnType<typeof startBoth>
  beforeEach(async () => {
    both = startBoth()
    both.log.push(
      ...release.log.map(({ envelope, ...rest }): LogRecord => ({ ...rest, value: JSON.stringify(envelope) })),
    )
    for (const role of roles) await rebuild(role)
  })

  async function rebuild(role: Role): Promise<void> {
    const { service, settings, store } = both.parts(role)
    const never = () => Promise.reject(new Error('a rebuild publishes nothing'))
    const documents = createDocuments(store, () => new Date(), false)
    const { rebuild: handlers } = createParts(service, {
      ...{ settings, log: createLog(role, 'silent'), publish: never, forward: never, newId: () => '' },
      ...{ trust: readTrust(service.root, settings.Trust), now: () => new Date() },
      documents,
    })
    for (const [topic, reactions] of Object.entries(handlers as Record<string, Record<string, Handler>>))
      for (const { envelope } of release.log.filter((record) => record.topic === topic))
        await reactions[envelope.Name]?.(envelope)
  }

  /** Returns the lists. Release 0.2.0 had no `payableUntil`. */
  const views = async (): Promise<Views> => {
    const lists = roles.flatMap((role) => tenants.map((tenant) => ({ role, tenant })))
    return Object.fromEntries(
      await Promise.all(
        lists.map(async ({ role, tenant }) => {
          const { body } = await both.request<{ items: (Thing & { payableUntil?: string })[] }>({
            role,
            tenant,
            method: 'GET',
            path: `/v1/${role}s`,
          })
          const items = body.items.map(({ payableUntil: _, ...thing }) => thing)
          return [`${role} ${tenant}`, items] as const
        }),
      ),
    )
  }

  it('rebuilds to the same orders and payments, except payments that are not in the log yet', async () => {
    const announced = new Set(release.log.map(({ envelope }) => envelope.Payload.PaymentId))
    const expected = Object.entries(release.views).map(([list, things]) => [
      list,
      list.startsWith('payment') ? things.filter(({ id }) => announced.has(id)) : things,
    ])
    const byId = (some: Views) => Object.values(some).map((things) => things.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
    expect(byId(await views())).to.deep.equal(byId(Object.fromEntries(expected)))
  })

  it('gives repeated requests and the backlog the same ids, so nothing is ordered or paid twice', async () => {
    for (const { request, status, id } of release.requests) {
      const answer = await both.request<{ id?: string; paymentId?: string }>(request)
      expect({ status: answer.status, id: answer.body.id ?? answer.body.paymentId }).to.deep.equal({ status, id })
    }
    const handled = Object.fromEntries(
      roles.map((role) => [
        role,
        new Set([...release.log.keys()].filter((index) => !release.backlog[role].includes(index))),
      ]),
    )
    for (let round = 0; round < 4; round += 1)
      for (const role of roles)
        for (const [index, { topic }] of both.log.entries())
          if (consumed[role].includes(topic as never) && !handled[role]?.has(index)) {
            expect(await both.deliver(role, [index])).to.deep.equal([true])
            handled[role]?.add(index)
          }
    const events = both.log.map(({ value }) => JSON.parse(value) as { Id: string; Name: string })
    expect(Object.fromEntries(events.map(({ Id, Name }) => [Id, Name]))).to.deep.equal(release.later.ids)
    expect(lasting(await views())).to.deep.equal(lasting(release.later.views))
  })
})
