import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { eventually, send } from './support/http.ts'
import { requireStack, succeed } from './support/make.ts'
import { isPaid, newOrder, orderOf, place, reduced } from './support/orders.ts'
import { openPublisher, type Publisher } from './support/publisher.ts'
import { paths, printed, reasons, services, targets, urls } from './system.ts'

describe('an operator', () => {
  let publisher: Publisher
  let folder: string
  before(async () => {
    await requireStack()
    publisher = await openPublisher()
    folder = mkdtempSync(join(tmpdir(), 'acceptance-'))
  })
  after(async () => {
    await publisher?.close()
    if (folder) rmSync(folder, { recursive: true })
  })

  it('finds a dead letter, sees what is wrong with it, corrects it and replays it until its order is paid', async () => {
    const right = reduced(7)
    const wrong = { ...right, Payload: { ...right.Payload, Total: 'seven' } }
    const [position = ''] = await publisher.publish({ value: JSON.stringify(wrong) })
    const group = `${reasons.payload}/${services.orders}`
    const id = await eventually('the dead letter', async () => {
      expect(await succeed(targets.deadLetters)).to.contain(group)
      return printed.deadLetterAt(position).exec(await succeed(targets.deadLettersOf(group)))?.[1]
    })
    expect(await succeed(targets.showDeadLetter(id))).to.contain('/Payload/Total')
    const { status, body } = await send(urls.monitor + paths.deadLetters)
    expect([status, JSON.stringify(body).includes(reasons.payload)]).to.deep.equal([200, true])
    const file = join(folder, 'event.json')
    writeFileSync(file, JSON.stringify(right))
    expect(await succeed(targets.replay(id, file))).to.match(printed.replayed)
    expect((await isPaid(right.Payload.OrderId)).total).to.equal(7)
  })

  for (const service of Object.values(services)) {
    it(`rebuilds the store of ${service}, which changes nothing where nothing is missing`, async () => {
      const { body } = await place()
      const before = await isPaid(body.id)
      const output = await succeed(targets.rebuild(service))
      const lines = [...output.matchAll(printed.rebuilt)]
      expect(lines).not.to.deep.equal([])
      for (const [line, , , applied] of lines) expect(applied, line).to.equal('0')
      expect((await orderOf(body.id)).body).to.deep.equal(before)
    })
  }

  it('restarts a service under load: each request is answered or finds nobody, and each accepted order is paid', async () => {
    let isOver = false
    const accepted: string[] = []
    const others: unknown[] = []
    const load = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const answer = await place(newOrder(), randomUUID()).catch((error: Error) => error)
        if ('status' in answer && answer.status < 300) accepted.push(answer.body.id)
        else others.push('status' in answer ? answer.status : causeOf(answer))
        await delay(20)
      }
    })
    await delay(1_000)
    await succeed(targets.restart(services.orders))
    await delay(1_000)
    isOver = true
    await Promise.all(load)
    expect(accepted.length).to.be.above(20)
    // Refused by the service as it stops or starts, or by the system where nobody listens. No request breaks off.
    for (const other of others) expect(other).to.be.oneOf([503, 'ECONNREFUSED'])
    for (const id of accepted) await isPaid(id)
  })
})

function causeOf(error: Error): unknown {
  const { cause } = error as { cause?: { code?: string; errors?: { code?: string }[] } }
  return cause?.code ?? cause?.errors?.[0]?.code ?? error.message
}
