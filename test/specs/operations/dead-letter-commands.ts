import { randomUUID } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { orderUrl, orderWith } from '@orderflow/chaos/clients/api'
import { reduced } from '@orderflow/chaos/clients/envelopes'
import { type LogReader, openLog } from '@orderflow/kafka-log'
import { readDeadLetters } from '@orderflow/service-kit/operations'
import type { RunningStack } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { createProducer, type OutsideRecord } from '@orderflow/test-kit'
import type { Ended, Operate } from '@orderflow/test-kit/stacks'
import { expect } from 'chai'

export function deadLetterCommands(running: () => RunningStack, operate: () => Operate): void {
  describe('the command dead-letters', () => {
    let folder: string
    const OrderId = randomUUID()
    const event = reduced({ OrderId, customer_tax_id: 'SECRET-1', CustomerTaxId: 'SECRET-2', Total: '1' })
    let id: string
    let log: LogReader
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'dead-letter-commands-'))
      log = openLog(running().kafka)
      id = await failing(event)
    })
    after(async () => {
      rmSync(folder, { recursive: true, force: true })
      await log?.close()
    })

    async function publish(...records: OutsideRecord[]): Promise<void> {
      const producer = createProducer(running().kafka)
      await producer.send(...records)
      await producer.close()
    }

    async function failing(event: ReturnType<typeof reduced>): Promise<string> {
      const key = event.Payload.OrderId
      await publish({ topic: 'orderevents', key, value: JSON.stringify(event) })
      return eventually(async () => {
        for (const { id, app, attempts } of (await readDeadLetters(log)).entries.toReversed()) {
          const deadLetter =
            app === 'order-service' && attempts[0] ? await log.at(attempts[0].deadLetterPosition) : undefined
          if (deadLetter?.value.includes(key)) return id.slice(0, 8)
        }
        return undefined
      }, 'the dead letter')
    }

    /** Publishes dead letters of records that the log no longer has, as if payment-service had failed. */
    async function ourFaults(reason: string, events: ReturnType<typeof reduced>[]): Promise<void> {
      const common = {
        'deadletter-app': 'payment-service',
        'deadletter-reason': reason,
        'deadletter-topic': 'orderevents',
      }
      const deadLetters = events.map((event, index) => ({
        topic: 'orderevents.dead',
        key: event.Payload.OrderId,
        value: JSON.stringify(event),
        headers: {
          ...common,
          'deadletter-partition': String(index % 3),
          'deadletter-offset': `${beyond + index}`,
        },
      }))
      beyond += events.length
      await publish(...deadLetters)
    }
    let beyond = 1_000_000_000

    /** Returns the numbers of records that were ever written to orderevents and its dead-letter topic. */
    async function counts(): Promise<number[]> {
      const spans = await Promise.all(['orderevents', 'orderevents.dead'].map((topic) => log.spans(topic)))
      return spans.map((some) => some.reduce((sum, { end }) => sum + Number(end), 0))
    }
    const lastLines = ({ stdout }: Ended) => stdout.slice(stdout.lastIndexOf('\n\n')).trim().split('\n')

    const run = (args: string[], env = {}) => operate()('order-service', ['dead-letters', ...args], env)

    function editor(script: string): string {
      const file = join(folder, `editor-${randomUUID()}`)
      writeFileSync(file, `#!/bin/sh\n${script}\n`)
      chmodSync(file, 0o700)
      return file
    }

    it('lists dead letters by reason and app, with the next step', async () => {
      const { code, stdout } = await run([])
      expect(code).to.equal(0)
      expect(stdout)
        .to.match(/^invalid-payload\/order-service +\d+ +\d+ /m)
        .and.to.contain('next: make dead-letters')
    })

    it('lists the dead letters of a group, with the next step', async () => {
      const { code, stdout } = await run(['list', 'invalid-payload/order-service'])
      expect(code).to.equal(0)
      expect(stdout)
        .to.match(new RegExp(`^${id} +open +1 +\\S+Z +orderevents/\\d/\\d+ +invalid-payload +order-service$`, 'm'))
        .and.to.contain('next: make dead-letters SHOW=ID')
        .and.not.to.contain('payment-service')
    })

    it('shows the problems of a dead letter, and personal data only on request', async () => {
      const [masked, whole] = await Promise.all([run(['show', id]), run(['show', id, '--values'])])
      expect(masked.stdout)
        .to.contain('/Payload/Total must be a number')
        .and.not.to.contain('SECRET')
        .and.not.to.contain('Hopper')
      expect(whole.stdout).to.contain('SECRET-1').and.to.contain('Hopper')
    })

    it('refuses to replay an event that would fail again, prints the reason, and exits with code 1; a dry run exits with code 0', async () => {
      const [real, dry] = await Promise.all([run(['replay', id]), run(['replay', id, '--dry-run'])])
      expect(real.code, real.stdout).to.equal(1)
      expect(real.stdout).to.contain('refused').and.to.contain('/Payload/Total').and.to.contain('0 replayed, 1 refused')
      expect(dry.code, dry.stdout).to.equal(0)
    })

    it('publishes the event only if the editor succeeds, changes the event and leaves it valid', async () => {
      const edit = (script: string) =>
        run(['replay', id, '--edit'], { EDITOR: editor(script), TMPDIR: folder, VISUAL: '' })
      const [events] = await counts()
      const none = run(['replay', id, '--edit'], { EDITOR: '', VISUAL: '' })
      const scripts = ['true', 'exit 3', 'sed -i.old s/Grace/Ada/ "$1"']
      const [unchanged, failing, wrong] = (await Promise.all(scripts.map(edit))) as [Ended, Ended, Ended]
      expect(unchanged.stderr).to.equal('error: the event is unchanged, so it is not replayed\n')
      expect(failing.stderr).to.contain('failed')
      expect(wrong.stderr).to.contain('/Payload/Total must be a number')
      const [kept = ''] = /\/\S+\/event\.json/.exec(wrong.stderr) ?? []
      const again = await run(['replay', id, '--file', kept])
      expect(again.stdout).to.contain('0 replayed, 1 refused')
      expect((await none).stderr).to.contain('no editor is configured')
      for (const { code } of [unchanged, failing, wrong, again, await none]) expect(code).to.equal(1)
      expect((await counts())[0]).to.equal(events)
    })

    it('replays an event that was edited in an editor whose command has arguments', async () => {
      const editing = `${editor('shift; sed -i.old \'s/"Total": "1"/"Total": 1/\' "$1"')} --wait`
      const { code, stdout } = await run(['replay', id, '--edit'], { EDITOR: editing, TMPDIR: folder, VISUAL: '' })
      expect(code, stdout).to.equal(0)
      expect(stdout).to.match(/replayed as orderevents\/\d\/\d+/)
      expect((await orderWith(orderUrl(running()), OrderId, 'Paid')).customerTaxId).to.equal('SECRET-2')
      expect((await run(['show', id])).stdout).to.match(/replayed, edited, as orderevents/)
    })

    it('replays an event that was edited in a file', async () => {
      const wrong = reduced({ Total: '2' })
      const short = await failing(wrong)
      const file = join(folder, 'event with spaces.json')
      writeFileSync(file, JSON.stringify({ ...wrong, Payload: { ...wrong.Payload, Total: 2 } }))
      const { code, stdout } = await run(['replay', short, '--file', file])
      expect(code, stdout).to.equal(0)
      expect(stdout).to.match(/replayed as orderevents\/\d\/\d+/)
      expect((await orderWith(orderUrl(running()), wrong.Payload.OrderId, 'Paid')).total).to.equal(2)
    })

    it('replays each event of a group once, and fails if one of the events is refused', async () => {
      const orders = Array.from({ length: 60 }, () => reduced())
      await ourFaults('handler-error', [...orders, reduced({ Total: 'one' })])
      const [events = 0, deadLetters = 0] = await counts()
      const first = await run(['replay', 'handler-error/payment-service'])
      expect([first.code, lastLines(first)[0]]).to.deep.equal([1, '60 replayed, 1 refused, 0 replayed before'])
      // Each replay adds a note to the dead-letter topic.
      expect(await counts()).to.deep.equal([events + 60, deadLetters + 60])
      for (const { Payload } of orders) await orderWith(orderUrl(running()), Payload.OrderId, 'Paid')

      const again = await run(['replay', 'handler-error/payment-service'])
      expect([again.code, lastLines(again)[0]]).to.deep.equal([1, '0 replayed, 1 refused, 60 replayed before'])
      expect(await counts()).to.deep.equal([events + 60, deadLetters + 60])
    })

    it('replays all dead letters after a dry run that publishes nothing', async () => {
      const orders = Array.from({ length: 3 }, () => reduced())
      await ourFaults('refused', orders)
      const before = await counts()
      const dry = await run(['replay', 'all', '--dry-run'])
      expect([dry.code, await counts()]).to.deep.equal([0, before])
      const [, ready, others] =
        /^(\d+) would be (replayed, \d+ refused, \d+ replayed before)$/.exec(lastLines(dry)[0] ?? '') ?? []
      expect(Number(ready)).to.be.at.least(3)

      const real = await run(['replay', 'all'])
      expect([real.code, lastLines(real)[0]]).to.deep.equal([1, `${ready} ${others}`])
      // Two apps may have dead letters for the same record.
      expect((await counts())[0]).to.be.within((before[0] ?? 0) + 3, (before[0] ?? 0) + Number(ready))
      for (const { Payload } of orders) await orderWith(orderUrl(running()), Payload.OrderId, 'Paid')
      const done = await run(['replay', 'refused/payment-service'])
      expect([done.code, lastLines(done)]).to.deep.equal([0, ['0 replayed, 0 refused, 3 replayed before']])
    })

    it('refuses invalid commands with a reason, and publishes nothing', async () => {
      const before = await counts()
      const cases = [
        [['replay', 'all', '--edit'], 'not a group'],
        [['replay', 'nobody'], 'unknown dead letter nobody'],
        [['list', 'no/group'], 'unknown group no/group'],
      ] as const
      const all = await Promise.all(cases.map(([args]) => run([...args])))
      for (const [index, { code, stderr }] of all.entries()) {
        expect(code, stderr).to.equal(1)
        expect(stderr)
          .to.match(/^error: /)
          .and.to.contain(cases[index]?.[1])
      }
      expect(await counts()).to.deep.equal(before)
    })
  })
}
