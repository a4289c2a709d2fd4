import { randomUUID } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLog, readDeadLetters } from '@orderflow/service-kit/operations'
import type { RunningStack, StackPorts } from '@orderflow/stack'
import { expect } from 'chai'
import { orderWith } from '../support/api.ts'
import { reduced } from '../support/envelopes.ts'
import { eventually } from '../support/eventually.ts'
import { createProducer } from '../support/kafka.ts'
import { operate } from '../support/operate.ts'

/** Dead letters as an operator sees them, on a local stack. */
export function deadLetterCommands(running: () => RunningStack, ports: () => StackPorts): void {
  describe('dead letters on the command line', () => {
    let folder: string
    const OrderId = randomUUID()
    const event = reduced({ OrderId, customer_tax_id: 'SECRET-1', CustomerTaxId: 'SECRET-2', Total: '1' })
    let id: string
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'dead-letter-commands-'))
      const producer = createProducer(running().kafka)
      await producer.send({ topic: 'orderevents', key: OrderId, value: JSON.stringify(event) })
      await producer.close()
      const log = openLog(running().kafka)
      id = await eventually(async () => {
        for (const { id, app, attempts } of (await readDeadLetters(log)).entries.toReversed()) {
          const letter = app === 'order-service' && attempts[0] ? await log.at(attempts[0].stands) : undefined
          if (letter?.value.includes(OrderId)) return id.slice(0, 8)
        }
        return undefined
      }, 'the dead letter')
      await log.close()
    })
    after(() => rmSync(folder, { recursive: true, force: true }))

    const run = (args: string[], env = {}) => operate(running(), 'order', ports().order, ['dead-letters', ...args], env)

    /** A program that takes the editor's place. */
    function editor(script: string): string {
      const file = join(folder, `editor-${randomUUID()}`)
      writeFileSync(file, `#!/bin/sh\n${script}\n`)
      chmodSync(file, 0o700)
      return file
    }

    it('are listed by reason and app, with the next step', async () => {
      const { code, stdout } = await run([])
      expect(code).to.equal(0)
      expect(stdout)
        .to.match(/^invalid-payload\/order-service +\d+ +\d+ /m)
        .and.to.contain('next: make dead-letters')
    })

    it('are shown with their problems, and with personal data only when asked', async () => {
      const { stdout } = await run(['show', id])
      expect(stdout)
        .to.contain('/Payload/Total must be a number')
        .and.not.to.contain('SECRET')
        .and.not.to.contain('Hopper')
      expect((await run(['show', id, '--values'])).stdout)
        .to.contain('SECRET-1')
        .and.to.contain('Hopper')
    })

    it('are refused with the reason and an exit code, but for a dry run', async () => {
      const { code, stdout } = await run(['replay', id])
      expect([code, stdout]).to.deep.equal([1, stdout])
      expect(stdout).to.contain('refused').and.to.contain('/Payload/Total').and.to.contain('0 replayed, 1 refused')
      expect((await run(['replay', 'all', '--dry-run'])).code).to.equal(0)
    })

    it('are kept out of the log by an editor that changes nothing, fails, or leaves them wrong', async () => {
      const edit = (script: string) =>
        run(['replay', id, '--edit'], { EDITOR: editor(script), TMPDIR: folder, VISUAL: '' })
      expect((await edit('true')).stderr).to.equal('error: nothing was changed, so nothing is replayed\n')
      expect((await edit('exit 3')).stderr).to.contain('failed')
      const wrong = await edit('sed -i s/Grace/Ada/ "$1"')
      expect(wrong.stderr).to.contain('/Payload/Total must be a number')
      const [kept = ''] = /\/\S+\/event\.json/.exec(wrong.stderr) ?? []
      expect((await run(['replay', id, '--file', kept])).code).to.equal(1)
      expect((await run(['replay', id, '--edit'], { EDITOR: '', VISUAL: '' })).stderr).to.contain('there is no editor')
    })

    it('are mended in an editor with arguments and replayed', async () => {
      const mending = `${editor('shift; sed -i \'s/"Total": "1"/"Total": 1/\' "$1"')} --wait`
      const { code, stdout } = await run(['replay', id, '--edit'], { EDITOR: mending, TMPDIR: folder, VISUAL: '' })
      expect([code, stdout]).to.deep.equal([0, stdout])
      expect(stdout).to.match(/replayed as orderevents\/\d\/\d+/)
      expect((await orderWith(running().orderUrl, OrderId, 'Paid')).customerTaxId).to.equal('SECRET-2')
      expect((await run(['show', id])).stdout).to.match(/replayed, edited, as orderevents/)
    })

    for (const [args, stderr] of [
      [['replay', 'all', '--edit'], 'not a group'],
      [['replay', 'nobody'], 'there is no dead letter nobody'],
      [['list', 'no/group'], 'there is no group no/group'],
    ] as const) {
      it(`are not touched by "${args.join(' ')}", which says what is wrong`, async () => {
        const ended = await run([...args])
        expect(ended.code).to.equal(1)
        expect(ended.stderr)
          .to.match(/^error: /)
          .and.to.contain(stderr)
      })
    }
  })
}
