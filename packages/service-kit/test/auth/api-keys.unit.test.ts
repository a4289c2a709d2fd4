import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { type ApiKeyRecord, ApiKeysError, createApiKey, isApiKey, openApiKeys } from '../../src/auth/api-keys.ts'

const shop = { name: 'shop', scopes: ['orders:read'], tenant: 'acme' }
const none = () => {}

describe('API keys', () => {
  it('createApiKey returns a key with a public prefix and 256 random bits, and stores only the key’s hash', () => {
    const { key, record } = createApiKey(shop, new Date(0))
    expect(key).to.match(new RegExp(`^ofk_${record.prefix}_[\\w-]{43}$`))
    expect(Buffer.from(key.split('_').slice(2).join('_'), 'base64url')).to.have.length(32)
    expect(record).to.include({ ...shop, created: '1970-01-01T00:00:00.000Z' })
    expect(JSON.stringify(record)).not.to.contain(key.slice(13))
    expect(isApiKey(key)).to.equal(true)
    expect(createApiKey(shop, new Date(0)).key).not.to.equal(key)
  })

  it('`find` returns the caller of a key, even if several keys have the same name', () => {
    const [first, second] = [createApiKey(shop, new Date()), createApiKey(shop, new Date())]
    const keys = openApiKeys(JSON.stringify([first.record, second.record]), none)
    for (const { key, record } of [first, second]) {
      expect(keys.find(key)).to.deep.equal({
        id: `key:${record.prefix}`,
        key: 'shop',
        scopes: new Set(['orders:read']),
        tenant: { id: 'acme', userId: '' },
      })
    }
  })

  it('`find` returns nothing for an unknown key, or for a key with one wrong character', () => {
    const { key, record } = createApiKey(shop, new Date())
    const keys = openApiKeys(JSON.stringify([record]), none)
    const last = key.endsWith('A') ? 'B' : 'A'
    for (const wrong of [`${key.slice(0, -1)}${last}`, createApiKey(shop, new Date()).key, record.hash, '']) {
      expect(keys.find(wrong), wrong).to.equal(undefined)
    }
  })

  describe('a file of API keys', () => {
    let folder: string
    let file: string
    const write = (records: unknown) => writeFileSync(file, JSON.stringify(records))
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'api-keys-'))
      file = join(folder, 'api-keys.json')
    })
    afterEach(() => rmSync(folder, { recursive: true }))

    async function until(holds: () => boolean): Promise<void> {
      while (!holds()) await new Promise((resolve) => setTimeout(resolve, 50))
    }

    it('makes added keys valid at once, and revoked keys invalid at once', async () => {
      const { key, record } = createApiKey(shop, new Date())
      write([])
      const keys = openApiKeys(file, none)
      try {
        expect(keys.find(key)).to.equal(undefined)
        write([record])
        expect(keys.find(key)?.id).to.equal(`key:${record.prefix}`)
        write([])
        await until(() => keys.find(key) === undefined)
      } finally {
        keys.close()
      }
    })

    it('keeps its previous keys valid while its content is invalid, and reports each problem once', async () => {
      const { key, record } = createApiKey(shop, new Date())
      write([record])
      const problems: string[] = []
      const keys = openApiKeys(file, (problem) => problems.push(problem))
      try {
        for (const [index, text] of ['{', '{}', ''].entries()) {
          writeFileSync(file, text)
          // A search for an unknown key reads the file again.
          for (const _ of [1, 2]) keys.find('unknown')
          expect(problems).to.have.length(index + 1)
          expect(keys.find(key)?.id, text).to.equal(`key:${record.prefix}`)
        }
        expect(problems[0]).to.include(file).and.include('the last valid API keys stay in use').and.include('next: ')
      } finally {
        keys.close()
      }
    })

    const unreadable: Record<string, () => void> = {
      missing: () => {},
      'replaced by a folder': () => mkdirSync(file),
      'replaced by a link to itself': () => symlinkSync(file, file),
    }
    for (const [what, replace] of Object.entries(unreadable)) {
      it(`refuses all keys when the file is ${what}, reports this once, and accepts the keys again when the file is back`, async () => {
        const { key, record } = createApiKey(shop, new Date())
        write([record])
        const problems: string[] = []
        const keys = openApiKeys(file, (problem) => problems.push(problem))
        try {
          rmSync(file)
          replace()
          await until(() => keys.find(key) === undefined)
          for (const _ of [1, 2, 3]) keys.find(key)
          expect(problems).to.have.length(1)
          expect(problems[0]).to.include(file).and.include('all API keys are refused').and.include('next: ')
          rmSync(file, { recursive: true, force: true })
          write([record])
          expect(keys.find(key)?.id).to.equal(`key:${record.prefix}`)
        } finally {
          keys.close()
        }
      })
    }

    it('prevents the start of a service if the file is invalid, with an error that describes the problem', () => {
      expect(() => openApiKeys(join(folder, 'none'), none)).to.throw(ApiKeysError, 'no such file')
      write({})
      expect(() => openApiKeys(file, none)).to.throw(ApiKeysError, 'must be array')
      const { hash: _hash, ...lacking } = createApiKey(shop, new Date()).record as ApiKeyRecord
      write([lacking])
      expect(() => openApiKeys(file, none)).to.throw(ApiKeysError, "/0 must have required property 'hash'")
    })
  })
})
