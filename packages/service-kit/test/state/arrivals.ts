import { expect } from 'chai'
import { createArrivalLists } from '../../src/state/arrival-list.ts'
import type { UnitOfWork } from '../../src/state/batch.ts'
import { createReader } from '../../src/state/documents.ts'
import { readPage } from '../../src/state/list-page.ts'
import { createUnitOfWork } from '../../src/state/unit-of-work.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'

export const begun = Date.parse('2026-11-21T10:00:00Z')

/** A store in memory with a list, and the clock of its writers. */
export function arrivals(type: string) {
  const tested = { sidecar: new FakeSidecar(type), clock: begun }
  beforeEach(() => {
    Object.assign(tested, { sidecar: new FakeSidecar(type), clock: begun })
  })

  const now = () => new Date(tested.clock)
  const writer = () => createUnitOfWork(tested.sidecar, createArrivalLists(now))
  const add = (commit: UnitOfWork, id: string) =>
    commit({ key: id, bytes: 10, decide: (view) => view.write({ listed: view.list(id) }) })
  const page = (limit: number, cursor?: string) =>
    readPage(createReader(tested.sidecar), { limit, cursor }, async (ids) =>
      ids.map((id) => {
        const document = tested.sidecar.documents.get(id)?.value as { listed: string } | undefined
        return document && { item: id, listed: document.listed }
      }),
    )

  async function all(limit: number): Promise<string[]> {
    const seen: string[] = []
    let next: string | null | undefined
    do {
      const { items, next: cursor } = await page(limit, next ?? undefined)
      expect(items.length).to.be.at.most(limit)
      seen.push(...items)
      next = cursor
    } while (next)
    return seen
  }
  return Object.assign(tested, { now, writer, add, page, all })
}
