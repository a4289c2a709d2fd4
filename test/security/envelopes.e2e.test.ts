import { positionText } from '@orderflow/kafka-log'
import { readDeadLetters } from '@orderflow/service-kit/operations'
import { table } from '@orderflow/service-kit/setup'
import { expect } from 'chai'
import { deliverHostile } from '../support/hostile/deliver-hostile.ts'
import { endOf } from '../support/hostile/expected.ts'
import type { HostileRecord } from '../support/hostile/hostile.ts'
import { deliverLarge } from '../support/hostile/large-ends.ts'
import { combinations, largeRecords } from '../support/hostile/large-records.ts'
import { documentsIn } from '../support/memory/world.ts'
import { mutants } from './support/mutants.ts'

const total = Number(process.env.RECORDS ?? 1_000_000)
const chunk = 500
const seed = Number(process.env.SEED ?? Math.trunc(Math.random() * 2 ** 31))

type Ledger = Map<string, Map<string, number>>

/** Runs the consumers of both services in memory, and prints the results of the records. */
describe(`a run of a million hostile records (SEED=${seed})`, () => {
  it('results in facts, dead letters or ignored records in each service, and crashes or blocks none', async function () {
    // A million records take a quarter of an hour.
    this.timeout(5_000 + total * 5)
    const ledger: Ledger = new Map()
    const stopped: string[] = []
    const records = mutants(seed)
    for (let done = 0; done < total; done += chunk) {
      const batch = Array.from({ length: chunk }, () => records.next().value as HostileRecord)
      stopped.push(...(await account(batch, ledger)))
    }
    print(ledger, stopped)
    for (const [name, counts] of ledger) {
      expect(counts.get('fact'), name).to.be.above(total / 1_000)
      expect(
        [...counts.keys()].some((end) => end.startsWith('dead: ')),
        name,
      ).to.equal(true)
    }
    // A record may be counted twice, because both services consume some of the topics.
    expect(countIn(ledger)).to.be.at.least(total)
    expect(stopped).to.deep.equal([])
  })
})

describe(`a run of 5,000 valid envelopes of 1 to 256 KiB that are wide, deep, long or repetitive (SEED=${seed})`, () => {
  const largeTotal = Number(process.env.LARGE_RECORDS ?? 5_000)
  const perCombination = Math.ceil(largeTotal / combinations.length)

  it('leads to the expected result for each envelope in each service, and blocks no partition', async function () {
    this.timeout(60_000 + largeTotal * 60)
    const ledger: Ledger = new Map()
    const stopped: string[] = []
    const wrong: string[] = []
    for (const combination of combinations) {
      const { ends, ...delivered } = await deliverLarge(largeRecords(combination, perCombination, seed))
      stopped.push(...delivered.stopped)
      for (const { role, record, end, isExpected } of ends) {
        const name = `${role}-service, ${record.topic}, ${record.shape}, ${record.refusal}`
        count(ledger, name, end === 'fact' || end === 'nothing' ? end : `dead: ${end}`)
        if (!isExpected) wrong.push(`${role}-service ended as ${end}: ${record.title}`)
      }
    }
    print(ledger, stopped)
    expect(stopped).to.deep.equal([])
    expect(wrong.slice(0, 10), `${wrong.length} ended otherwise`).to.deep.equal([])
    for (const [name, counts] of ledger) {
      expect(counts.size, name).to.equal(1)
      expect([...counts.values()][0], name).to.equal(perCombination)
    }
  })
})

function count(ledger: Ledger, name: string, end: string): void {
  const counts = ledger.get(name) ?? new Map<string, number>()
  ledger.set(name, counts)
  counts.set(end, (counts.get(end) ?? 0) + 1)
}

const countIn = (ledger: Ledger): number =>
  [...ledger.values()].flatMap((counts) => [...counts.values()]).reduce((sum, each) => sum + each, 0)

function print(ledger: Ledger, stopped: string[]): void {
  const ends = [...new Set([...ledger.values()].flatMap((counts) => [...counts.keys()]))].toSorted()
  const rows = [...ledger].map(([name, counts]) => [name, ...ends.map((end) => String(counts.get(end) ?? 0))])
  for (const line of table([['records', ...ends], ...rows])) console.log(line)
  console.log(`stopped partitions: ${stopped.length}`)
}

async function account(records: HostileRecord[], ledger: Ledger): Promise<string[]> {
  const { world, positions, stopped } = await deliverHostile(records)
  const { entries } = await readDeadLetters(world.log)
  for (const [role, topic] of world.subscriptions) {
    const documents = documentsIn(world.stores[role])
    const deadLetters = Map.groupBy(
      entries
        .filter(({ app }) => app === `${role}-service`)
        .flatMap(({ attempts }) =>
          attempts.map(({ reason, position }) => ({ reason, position: positionText(position) })),
        ),
      ({ position }) => position,
    )
    for (const [index, record] of records.entries()) {
      if (record.topic !== topic) continue
      const own = deadLetters.get(positions[index] ?? '') ?? []
      const end = endOf(role, record, true)
      const isFact = typeof end === 'object' && end.isIn(documents)
      const ends = [own.length === 1, isFact && own.length === 0, own.length === 0 && end === 'unnoticed']
      expect(ends.filter(Boolean), `SEED=${seed} ${role}-service ${topic} ${record.value}`).to.have.length(1)
      const what = isFact ? 'fact' : own[0] ? `dead: ${own[0].reason}` : 'no concern'
      count(ledger, `${role}-service, ${topic}`, what)
    }
  }
  return stopped
}
