import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import fc from 'fast-check'
import { GuidRuns, guidNumber, guidSchema, pagesSql, seqsOf } from '../../src/index/guid-runs.ts'

describe('GuidRuns', () => {
  it('finds the events of a GUID although it reads only a few pages', () => {
    const database = new DatabaseSync(':memory:')
    database.exec(guidSchema)
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${pagesSql}`).all(1, 2)
    const steps = plan.map(({ detail }) => String(detail))
    expect(steps).to.include('SEARCH g USING INDEX pages (run=? AND first>? AND first<?)')
    expect(steps.filter((step) => /^SCAN (?!r$)/.test(step))).to.deep.equal([])
    database.close()
  })

  it('finds all events after any number of merges', () => {
    const guids = Array.from({ length: 12 }, () => randomUUID())
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.nat(11), { minLength: 1, maxLength: 700 }), { maxLength: 30 }),
        fc.boolean(),
        (batches, isSealed) => {
          const database = new DatabaseSync(':memory:')
          database.exec(guidSchema)
          const runs = new GuidRuns(database)
          const expected = new Map<string, number[]>(guids.map((guid) => [guid, []]))
          let seq = 0
          for (const batch of batches) {
            const numbers = batch.map((position) => {
              const guid = guids[position] as string
              expected.get(guid)?.push(seq)
              seq += 1
              return guidNumber(guid, seq - 1)
            })
            runs.add(Float64Array.from(numbers))
          }
          if (isSealed) runs.mergeAll()
          const all = <Row>(sql: string, ...values: number[]) => database.prepare(sql).all(...values) as Row[]
          for (const guid of guids) expect(seqsOf(guid, all)).to.deep.equal(expected.get(guid))
          expect(seqsOf(randomUUID(), all)).to.be.empty
          database.close()
        },
      ),
      { numRuns: 20 },
    )
  })
})
