import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@orderflow/cli'
import { expect } from 'chai'
import { checkoutOfRepository } from '../support/checkouts/checkout.ts'
import type { RepositoryCopy } from '../support/checkouts/repository-copy.ts'

const guide = readFileSync(join(repository, 'docs/own-domain.md'), 'utf8')

function blockOf(step: number, language: string): string {
  const text = guide.split(/^## (?=\d)/m).find((section) => section.startsWith(`${step}.`)) ?? ''
  const [, block = ''] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'ms').exec(text) ?? []
  return block
}

const example = /order-service|payment|orderevents|order(?:Created|Id)|\bpaid\b|\borders?\b/i

describe('an application without the example, which was removed as docs/own-domain.md describes', () => {
  let copy: RepositoryCopy
  const make = (target: string) => copy.run('make', ['-s', target])
  const read = (path: string) => readFileSync(join(copy.folder, path), 'utf8')
  before(async () => {
    copy = checkoutOfRepository()
    expect((await copy.run('sh', ['-euc', blockOf(1, 'sh')])).stderr).to.equal('')
    copy.write('envelope-schema/schemas/events/RoomBooked.1.json', blockOf(2, 'json'))
    copy.write('services.json', blockOf(3, 'json'))
    const { code, stdout, stderr } = await make('generate')
    expect(code, stdout + stderr).to.equal(0)
  })
  after(() => copy?.remove())

  it('includes the events of outside applications in the contract', () => {
    expect(JSON.parse(read('envelope-schema/topics.json'))).to.deep.equal({
      bookings: { key: ['Room', 'Night'], events: ['RoomBooked'] },
    })
    const { operations, components } = JSON.parse(read('envelope-schema/asyncapi.json'))
    expect(Object.keys(components.messages)).to.deep.equal(['RoomBooked.1.full', 'RoomBooked.1.received'])
    expect(operations['applications-outside.send.bookings'].messages).to.have.length(2)
  })

  it('removes the example from the files of `make observe`', () => {
    for (const file of ['alerts.yml', 'dashboard.json', 'prometheus.yml', 'jaeger.yml']) {
      expect(read(`components/observe/${file}`).replaceAll('orderflow', ''), file).not.to.match(example)
    }
  })

  it('passes `make check` although it has no earlier release', async () => {
    const { code, stdout, stderr } = await make('check')
    expect(code, stdout + stderr).to.equal(0)
    expect(stdout).to.contain('nothing to compare')
  })

  it('runs the tests of its services, and skips specs that have no service to test', async () => {
    copy.write(
      'room-service/test/room.unit.test.ts',
      `import { testedServices } from '@orderflow/test-kit'
       it('finds no tested service', async () => {
         if ((await testedServices()).length > 0) throw new Error('found a tested service')
       })`,
    )
    const { code, stdout, stderr } = await copy.run('mocha', ['*-service/test/**/*.test.ts'])
    expect(code, stdout + stderr).to.equal(0)
    expect(stdout).to.match(/1 passed, 0 failed\n$/)
  })
})
