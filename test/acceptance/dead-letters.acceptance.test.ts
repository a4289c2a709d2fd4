import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { eventually } from './http.ts'
import { publish } from './kafka.ts'
import { make } from './make.ts'
import { deadLetterAt, findOrder, orderIsPaid, paymentsOf, readAll } from './orders.ts'
import './running-stack.ts'
import {
  commands,
  type DeadLetter,
  deadLetterStates,
  type Position,
  parts,
  printed,
  readDeadLetters,
  reasons,
  reducedEnvelope,
  urls,
} from './system.ts'

const group = printed.deadLetterGroup(reasons.invalidPayload, parts.orders)
const shortOf = ({ id }: DeadLetter) => id.slice(0, 8)

describe('a dead letter', () => {
  const orderId = randomUUID()
  let position: Position
  let letter: DeadLetter
  before(async () => {
    const [published] = await publish({ value: JSON.stringify(reducedEnvelope(orderId, 'ten')) })
    position = published as Position
    letter = await deadLetterAt(position, parts.orders)
    const letters = [letter, await deadLetterAt(position, parts.payments)]
    for (const { reason, state } of letters) {
      expect([reason, state]).to.deep.equal([reasons.invalidPayload, deadLetterStates.open])
    }
  })

  it('appears in a group by reason and service on the command line', async () => {
    expect(await make(commands.deadLetters)).to.contain(group)
  })

  it('looks the same on the command line and in the monitor', async () => {
    const ids = printed.deadLetterIds(await make(commands.listDeadLetters(group)))
    expect(ids).to.include(shortOf(letter))
    const listed = (await readAll(urls.deadLetters)).flatMap(readDeadLetters)
    const same = listed.filter(({ service, reason }) => service === parts.orders && reason === reasons.invalidPayload)
    expect(same.map(shortOf)).to.have.members(ids)
  })

  it('shows the fault and its location', async () => {
    const shown = await make(commands.showDeadLetter(shortOf(letter)))
    expect(shown)
      .to.contain('/Payload/Total')
      .and.to.match(/number/)
    expect(shown).not.to.contain('Grace Hopper')
  })

  it('stays unpublished if the replayed event still has the fault', async () => {
    const error = await replayed('still text').catch((failure: Error) => failure)
    expect(error).to.be.instanceOf(Error)
    expect((error as Error).message).to.contain('/Payload/Total')
    expect(await findOrder(orderId)).to.equal(undefined)
  })

  it('becomes a paid order when it is replayed with an edited event', async () => {
    expect(await replayed(10)).to.match(printed.replayedAs)
    expect((await orderIsPaid(orderId)).total).to.equal(10)
    expect(await paymentsOf(orderId)).to.have.length(1)
    await eventually('the monitor lists the dead letter as replayed', async () => {
      const { state } = await deadLetterAt(position, parts.orders)
      return state === deadLetterStates.replayed || undefined
    })
    const row = (await make(commands.listDeadLetters(group))).split('\n').find((line) => line.includes(shortOf(letter)))
    expect(row).to.contain(deadLetterStates.replayed)
  })

  async function replayed(total: unknown): Promise<string> {
    const folder = mkdtempSync(join(tmpdir(), 'acceptance-'))
    try {
      const file = join(folder, 'event.json')
      writeFileSync(file, JSON.stringify(reducedEnvelope(orderId, total)))
      return await make(commands.replay(shortOf(letter), file))
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
})
