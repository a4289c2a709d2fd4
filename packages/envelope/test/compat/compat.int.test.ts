import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { run as compat } from '../../src/cli/compat.ts'
import { run, usageError } from '../cli/run.ts'
import { schemaFolders } from '../support/schema-folders.ts'

const event = 'events/OrderCreated.1.json'

describe('envelope compat', () => {
  let root: string
  let schemas: string
  let folder: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'compat '))
    schemas = join(root, 'envelope-schema/schemas')
    folder = mkdtempSync(join(tmpdir(), 'compat before '))
    for (const target of [folder, schemas])
      for (const source of schemaFolders) cpSync(source, target, { recursive: true })
  })
  afterEach(() => {
    for (const each of [root, folder]) rmSync(each, { recursive: true })
  })

  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@orderflow.example', ...args], {
      cwd: root,
      stdio: 'pipe',
    })
  const commit = () => {
    git('add', '--all')
    git('commit', '--quiet', '--allow-empty', '--message', 'So')
  }
  interface Schema {
    properties: { CustomerTaxId: { maxLength: number } }
    required: string[]
  }
  function change(edit: (schema: Schema) => void, as = event) {
    const schema = JSON.parse(readFileSync(join(schemas, event), 'utf8'))
    edit(schema)
    writeFileSync(join(schemas, as), JSON.stringify(schema))
  }
  const shorten = (maxLength: number) =>
    change(({ properties }) => {
      properties.CustomerTaxId.maxLength = maxLength
    })
  const compare = (...args: string[]) => run(compat, ['--schemas', schemas, ...args])

  it('compares with a folder, prints the reason of an incompatible change, and exits with code 1', async () => {
    expect(await compare('--against', folder)).to.deep.equal({ code: 0, out: `compatible with ${folder}\n`, error: '' })
    shorten(32)
    const { code, out } = await compare('--against', folder)
    expect(code).to.equal(1)
    expect(out.split('\n').slice(0, 2)).to.deep.equal([
      `${event}: error: changed under its Version (forward): restore it, and write the next Version`,
      '  /CustomerTaxId maxLength was 64 and is 32 (breaks backward)',
    ])
  })

  const nothing = {
    code: 0,
    out: 'nothing to compare: releases.json lists no release of this repository\n',
    error: '',
  }

  it('accepts all schemas if no release exists, even if the repository has a tag or the branch main', async () => {
    expect(await compare(), 'no repository').to.deep.equal(nothing)
    git('init', '--quiet', '--initial-branch', 'main')
    commit()
    git('tag', 'v1.0.0')
    git('checkout', '--quiet', '-b', 'other')
    shorten(32)
    commit()
    expect(await compare(), 'no releases.json').to.deep.equal(nothing)
    writeFileSync(join(root, 'releases.json'), '[]')
    expect(await compare(), 'an empty list').to.deep.equal(nothing)
    expect((await compare('--against', 'v1.0.0')).code).to.equal(1)
  })

  it('compares with the last release in releases.json, even in a clone without tags', async () => {
    git('init', '--quiet', '--initial-branch', 'main')
    commit()
    const released = git('rev-parse', 'HEAD').toString().trim()
    const write = (commit: string) =>
      writeFileSync(join(root, 'releases.json'), JSON.stringify([{ version: '1.0.0', commit }]))
    write(released)
    shorten(32)
    commit()
    commit()
    expect((await compare()).out).to.match(new RegExp(`1 not compatible with ${released}\n$`))
    const unknown = 'f'.repeat(40)
    write(unknown)
    commit()
    // releases.json names a commit that this repository does not have.
    expect(await compare()).to.deep.equal(nothing)
    const shallow = join(root, 'shallow')
    git('clone', '--quiet', '--depth', '1', pathToFileURL(root).href, shallow)
    const inShallow = run(compat, ['--schemas', join(shallow, 'envelope-schema/schemas')])
    expect(await usageError(inShallow)).to.contain(`version 1.0.0 as commit ${unknown}, which this clone does not have`)
  })

  describe('in an application', () => {
    beforeEach(() => {
      const services = { 'payment-service': { consumes: { orderevents: 'prompt' } } }
      writeFileSync(join(root, 'services.json'), JSON.stringify({ services }))
      mkdirSync(join(root, 'payment-service/test'), { recursive: true })
    })
    const keepReads = (...pointers: string[]) =>
      writeFileSync(join(root, 'payment-service/test/reads.json'), JSON.stringify({ 'OrderCreated@1': pointers }))
    const optional = (...names: string[]) =>
      change((schema) => {
        schema.required = schema.required.filter((name) => !names.includes(name))
      }, 'events/OrderCreated.2.json')
    const linesOf = async () => (await compare('--against', folder)).out.split('\n').slice(1, -2)

    it('names the services that read a field which a new Version no longer guarantees', async () => {
      keepReads('/OrderId', '/Total')
      optional('Total', 'CustomerName')
      expect(await linesOf()).to.deep.equal([
        '  /CustomerName is no longer required (breaks forward)',
        '    no service reads it',
        '  /Total is no longer required (breaks forward)',
        '    payment-service reads /Total of OrderCreated@1',
      ])
      expect((await compare('--against', folder)).code).to.equal(0)
    })

    it('names no service for a stricter rule', async () => {
      keepReads('/CustomerTaxId')
      shorten(32)
      expect(await linesOf()).to.deep.equal(['  /CustomerTaxId maxLength was 64 and is 32 (breaks backward)'])
    })

    it('names each reader of an event whose schema was removed', async () => {
      keepReads('/OrderId', '/Total')
      rmSync(join(schemas, event))
      expect(await linesOf()).to.deep.equal([
        '  the document has no schema now (breaks backward and forward)',
        '    payment-service reads /OrderId of OrderCreated@1',
        '    payment-service reads /Total of OrderCreated@1',
      ])
    })

    it('names the services whose fields are unknown', async () => {
      optional('Total')
      expect((await linesOf())[1]).to.equal(
        '    payment-service may read it: it has no test/reads.json, which its tests write',
      )
    })
  })

  it('rejects an unknown commit, and a folder without the schemas', async () => {
    git('init', '--quiet', '--initial-branch', 'main')
    commit()
    expect(await usageError(compare('--against', 'nowhere'))).to.match(/^nowhere is neither a folder nor a commit/)
    mkdirSync(join(root, 'empty'))
    expect(await usageError(compare('--against', join(root, 'empty')))).to.match(/has none of these schemas; /)
  })
})
