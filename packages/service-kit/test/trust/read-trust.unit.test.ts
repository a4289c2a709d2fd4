import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Ajv } from 'ajv'
import { expect } from 'chai'
import { readListing, readTrust, TrustFileError } from '../../src/trust/read-trust.ts'
import { createSigner } from '../../src/trust/trust.ts'

const service = '6f1d2c1e-6b5a-4d0e-9c57-0d9a3c1b5e01'
const legacy = 'd1f6c5a2-3a3e-4b7e-9f0e-1c2d3e4f5a6b'
const publishers = {
  outside: { orderevents: ['OrderCreated'] },
  services: {
    [service]: { name: 'a-service', publishes: { orderevents: ['OrderCreated'], ours: ['OrderCancelled'] } },
  },
}
const settings = {
  File: '../components/trust/trust.json',
  Publishers: '../components/trust/publishers.json',
  SigningKeys: '',
  SignedSince: '',
}
const entry = { name: 'legacy', topics: { orderevents: ['OrderCreated'] } }

describe('the schema of the trust file', () => {
  it('the schema of the trust file is valid by its meta-schema', () => {
    const schema = readFileSync(new URL('../../src/trust/trust.schema.json', import.meta.url), 'utf8')
    const ajv = new Ajv()
    expect(ajv.validateSchema(JSON.parse(schema)), ajv.errorsText()).to.equal(true)
  })
})

describe('readTrust', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'trust-'))
    mkdirSync(join(folder, 'components/trust'), { recursive: true })
    writeFileSync(join(folder, 'components/trust/publishers.json'), JSON.stringify(publishers))
  })
  afterEach(() => rmSync(folder, { recursive: true }))
  const read = (content: unknown, changes = {}) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    writeFileSync(join(folder, 'components/trust/trust.json'), text)
    return readTrust(pathToFileURL(join(folder, 'a-service/')), { ...settings, ...changes })
  }
  it('reads files whose paths contain characters that have a meaning in URLs', () => {
    for (const name of ['100%20.json', 'a#b.json', 'a?b.json', 'ü.json']) {
      const File = join(folder, name)
      writeFileSync(File, JSON.stringify({ unlisted: 'accept', publishers: {} }))
      expect(() => read('not read', { File }), name).not.to.throw()
    }
  })

  function problemsOf(content: unknown, changes = {}): string[] {
    try {
      read(content, changes)
    } catch (error) {
      if (!(error instanceof TrustFileError)) throw error
      const { code, name, message, problems } = error
      expect([code, name]).to.deep.equal(['trust-file', 'TrustFileError'])
      const [first = '', ...lines] = message.split('\n')
      expect(first).to.match(/^trust is not usable \(\/.*\.json\):$/)
      expect(lines).to.deep.equal(problems.map((problem) => problem.replace('Trust__File: ', '  - ')))
      return problems
    }
    throw new Error('the file was accepted')
  }

  const claim = { AppId: legacy, AppName: 'legacy', Name: 'OrderCreated' }
  const evidence = { value: Buffer.alloc(0), signature: undefined, appendedAt: 0 }

  it('readListing returns a function that maps each AppId to its kind of publisher', () => {
    read({ unlisted: 'reject', publishers: { [legacy.toUpperCase()]: entry } })
    const listingOf = readListing(pathToFileURL(join(folder, 'a-service/')), settings)
    const other = '00000000-0000-4000-8000-000000000000'
    expect([service, legacy, other, null].map(listingOf)).to.deep.equal(['service', 'listed', 'unlisted', 'unlisted'])
  })

  it('accepts AppIds of listed applications in upper or lower case', () => {
    for (const id of [legacy, legacy.toUpperCase()]) {
      const trust = read({ unlisted: 'reject', publishers: { [id]: entry } })
      trust.requireTrusted('orderevents', claim, evidence)
    }
    const none = read({ unlisted: 'reject', publishers: {} })
    expect(() => none.requireTrusted('orderevents', claim, evidence)).to.throw('not listed')
  })

  it('accepts another path for the trust file, absolute or relative to the service’s folder', () => {
    const other = join(folder, 'other.json')
    writeFileSync(other, JSON.stringify({ unlisted: 'accept', publishers: {} }))
    for (const File of ['../other.json', other]) {
      read({ unlisted: 'reject', publishers: {} }, { File }).requireTrusted('orderevents', claim, evidence)
    }
  })

  it('requires signatures only if keys are set, and only for records since the start of signing', () => {
    const own = { AppId: service, AppName: 'a-service', Name: 'OrderCreated' }
    const content = { unlisted: 'accept', publishers: {} }
    read(content).requireGenuine('orderevents', own, evidence)
    const SigningKeys = 'k'.repeat(32)
    const since = { SigningKeys, SignedSince: '2026-11-21T11:00:00+01:00' }
    const at = (moment: string) => ({ ...evidence, appendedAt: Date.parse(moment) })
    expect(() => read(content, { SigningKeys }).requireGenuine('orderevents', own, evidence)).to.throw(
      'signature is missing or wrong',
    )
    read(content, since).requireGenuine('orderevents', own, at('2026-11-21T09:59:59.999Z'))
    expect(() => read(content, since).requireGenuine('orderevents', own, at('2026-11-21T10:00:00Z'))).to.throw(
      'signature is missing or wrong',
    )
  })

  it('uses the first key to sign, and accepts signatures of all keys', () => {
    const [older, newer] = ['o'.repeat(32), 'n'.repeat(32)] as [string, string]
    const own = { AppId: service, AppName: 'a-service', Name: 'OrderCreated' }
    const trust = read({ unlisted: 'accept', publishers: {} }, { SigningKeys: `${newer},${older}` })
    const value = Buffer.from('an envelope')
    expect(trust.sign('orderevents', own, value)).to.equal(createSigner([newer]).sign(value))
    for (const key of [older, newer]) {
      trust.requireGenuine('orderevents', own, { value, signature: createSigner([key]).sign(value), appendedAt: 0 })
    }
  })

  const wrong: [what: string, content: unknown, problems: (string | RegExp)[]][] = [
    ['no content', '', [/^Trust__File: cannot be read: /]],
    ['a text that is not JSON', '{"unlisted": accept}', [/^Trust__File: cannot be read: /]],
    ['a list', [], ['Trust__File: the file: must be object']],
    ['an object without fields', {}, ['Trust__File: /unlisted: is missing', 'Trust__File: /publishers: is missing']],
    [
      'unknown words',
      { unlisted: 'maybe', publishers: {}, listed: 1 },
      ['Trust__File: /listed: no such field', 'Trust__File: /unlisted: must be one of accept, reject'],
    ],
    [
      'a name instead of an AppId',
      { unlisted: 'accept', publishers: { legacy: entry } },
      [/\/publishers\/legacy: is not an AppId/],
    ],
    [
      'an application without rights',
      { unlisted: 'accept', publishers: { [legacy]: { name: 'legacy', topics: {}, tenants: [] } } },
      [/topics: must NOT have fewer than 1/, /tenants: must NOT have fewer than 1/],
    ],
    [
      'one of our services',
      { unlisted: 'accept', publishers: { [service.toUpperCase()]: entry } },
      [/: is a-service, one of our own services; declare its events in services\.json$/],
    ],
    [
      'the name of one of our services',
      { unlisted: 'accept', publishers: { [legacy]: { ...entry, name: 'a-service' } } },
      [/\/name: is the name of one of our services$/],
    ],
    [
      'an application that is listed twice',
      { unlisted: 'accept', publishers: { [legacy]: entry, [legacy.toUpperCase()]: entry } },
      [new RegExp(`^Trust__File: /publishers/${legacy.toUpperCase()}: is listed twice$`)],
    ],
    [
      'one of our own topics',
      { unlisted: 'accept', publishers: { [legacy]: { ...entry, topics: { ours: ['OrderCreated'] } } } },
      [
        /\/topics\/ours: outside applications may not write this topic; services\.json allows \(outside\): orderevents$/,
      ],
    ],
    [
      'an unknown event',
      { unlisted: 'accept', publishers: { [legacy]: { ...entry, topics: { orderevents: ['OrderCraeted'] } } } },
      [/\/topics\/orderevents: unknown event OrderCraeted; use one of .*OrderCreated/],
    ],
    [
      'an event that only services may publish',
      { unlisted: 'accept', publishers: { [legacy]: { ...entry, topics: { orderevents: ['OrderCancelled'] } } } },
      [/\/topics\/orderevents: OrderCancelled is an event of ours that outside applications may not publish/],
    ],
  ]
  for (const [what, content, problems] of wrong) {
    it(`refuses a file with ${what}`, () => {
      const found = problemsOf(content)
      expect(found).to.have.length(problems.length)
      for (const problem of problems) {
        expect(
          found.some((line) => (typeof problem === 'string' ? line === problem : problem.test(line))),
          found.join(),
        ).to.equal(true)
      }
    })
  }

  it('rejects a publishers.json of an earlier version, and names the file in the error', () => {
    const earlier = { ...publishers, outside: ['orderevents'] }
    writeFileSync(join(folder, 'components/trust/publishers.json'), JSON.stringify(earlier))
    expect(() => read({ unlisted: 'accept', publishers: {} })).to.throw(/publishers\.json .*: run make generate$/)
  })

  it('names a missing file in the error', () => {
    expect(problemsOf({}, { File: '../nowhere.json' }).join()).to.match(
      /^Trust__File: cannot be read: ENOENT.*nowhere\.json/,
    )
  })
})
