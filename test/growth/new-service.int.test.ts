import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { changesIn, checkoutOfRepository } from '../support/checkouts/checkout.ts'
import type { RepositoryCopy } from '../support/checkouts/repository-copy.ts'

describe('make new-service', () => {
  let copy: RepositoryCopy
  before(() => {
    copy = checkoutOfRepository()
  })
  after(() => copy?.remove())

  const make = (name: string) => copy.run('make', ['-s', 'new-service', `NAME=${name}`])
  let printed: string

  it('changes generated files and the list of services, and adds new files that git does not ignore', async () => {
    const { code, stdout, stderr } = await make('gift-card-service')
    expect([code, stderr]).to.deep.equal([0, ''])
    printed = stdout
    const { changed, added } = await changesIn(copy)
    const listed = changed.filter((path) => !/^(chart|components)\//.test(path))
    expect(listed).to.have.members([
      '.devcontainer/devcontainer.json',
      '.run/all-services.run.xml',
      '.vscode/launch.json',
      'docker-compose.brokers.yml',
      'docker-compose.postgresql.yml',
      'docker-compose.yml',
      'envelope-schema/asyncapi.json',
      'package-lock.json',
      'services.json',
    ])
    const others = added.filter((path) => !path.startsWith('gift-card-service/'))
    expect(others).to.deep.equal([
      '.run/attach-to-gift-card-service.run.xml',
      'chart/files/components/subscriptions.gift-card-service.yaml',
      'components/subscriptions.gift-card-service.yaml',
    ])
    expect(added).to.include.members([
      'gift-card-service/test/reads.json',
      'gift-card-service/src/gift-card.ts',
      'gift-card-service/test/subject.ts',
    ])
    const names = [...changed, ...added].map((path) => path.replace(/^(\.run|chart|components)\/.*/, '$1'))
    for (const path of names) expect(stdout).to.contain(path)
  })

  it('creates a service that passes lint, types, its own tests and the tests of all services', async () => {
    const tests = [
      'gift-card-service/test/*.unit.test.ts',
      'test/services/services.unit.test.ts',
      'packages/stack/test/generate/*.test.ts',
    ]
    const [check, run] = await Promise.all([copy.run('make', ['-s', 'check']), copy.run('mocha', tests)])
    expect(check.code, check.stdout + check.stderr).to.equal(0)
    expect(run.code, run.stdout).to.equal(0)
    expect(run.stdout)
      .to.contain('gift-card-service')
      .and.not.to.match(/spare.?part/i)
  })

  it('creates a service that appears in `make help` and can be released', async () => {
    expect((await copy.run('make', ['-s', 'help'])).stdout).to.match(/NAME is one of: .*gift-card/)
    const dry = await copy.run('make', ['-n', 'release-gift-card'])
    expect(dry).to.include({ code: 0 })
    expect(dry.stdout).to.match(/orderflow release gift-card$/m)
  })

  it('rejects names that are in use, invalid or reserved, and changes nothing', async () => {
    const before = await changesIn(copy)
    for (const name of [
      'shipping',
      'order-service',
      'gift-card-service',
      'get-route-service',
      'return-service',
      'type-service',
    ]) {
      const { code, stderr } = await make(name)
      expect([name, code]).to.deep.equal([name, 2])
      expect(stderr).to.match(/^error: .+\nnext: /)
    }
    expect(await changesIn(copy)).to.deep.equal(before)
  })

  const failures: [program: string, message: RegExp, file: string, change: (text: string) => string][] = [
    ['the linter', /missing\.grit/, 'biome.json', (text) => text.replace('no-spread-arguments', 'missing')],
    ['the generator', /EISDIR/, 'components/subscriptions.trip-service.yaml/a', () => ''],
    [
      'npm',
      /npm install failed/,
      'package.json',
      (text) => text.replace('pendencies": {', '$&"@orderflow/missing": "1",'),
    ],
  ]
  for (const [program, message, path, change] of failures) {
    it(`changes nothing if ${program} fails, even if generated files were out of date`, async () => {
      const file = join(copy.folder, path)
      const text = existsSync(file) ? readFileSync(file, 'utf8') : undefined
      copy.write(path, change(text ?? ''))
      copy.write('envelope-schema/topics.json', '{}')
      const before = await changesIn(copy)
      const { code, stderr } = await make('trip-service')
      const [after, topics] = [
        await changesIn(copy),
        readFileSync(join(copy.folder, 'envelope-schema/topics.json'), 'utf8'),
      ]
      if (text === undefined) rmSync(dirname(file), { recursive: true })
      else copy.write(path, text)
      await copy.run('git', ['checkout', 'envelope-schema/topics.json'])
      expect(stderr)
        .to.match(message)
        .and.match(/^error: trip-service was not created: /)
      expect([code, after, topics]).to.deep.equal([2, before, '{}'])
    })
  }

  it('stops at a schema with an unsupported format, and names the file, the path and the alternatives', async () => {
    const file = 'envelope-schema/schemas/events/RoomBooked.1.json'
    const $id = 'https://orderflow.example/schemas/events/RoomBooked.1.json'
    const schema = { $id, type: 'object', properties: { Night: { type: 'string', format: 'time' } } }
    writeFileSync(join(copy.folder, file), JSON.stringify(schema))
    const { code, stderr } = await make('trip-service')
    rmSync(join(copy.folder, file))
    expect(code).to.equal(2)
    expect(stderr).to.match(
      /^error: schemas of events are invalid:\n {2}- \S+RoomBooked\.1\.json: \/properties\/Night\/format: "time" is not supported; use date/,
    )
    expect(stderr).not.to.contain('node:internal')
  })

  it('prints a command that removes the new service again', async () => {
    const [, undo = ''] = /^undo: (.*)$/m.exec(printed) ?? []
    expect((await copy.run('sh', ['-c', undo])).code).to.equal(0)
    expect(await changesIn(copy)).to.deep.equal({ changed: [], added: [] })
  })
})
