import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { compat } from '../../src/cli/compat.ts'
import { run, usageError } from '../cli/run.ts'
import { schemaFolders } from '../support/schema-folders.ts'

const event = 'events/OrderCreated.1.json'

describe('envelope compat', () => {
  let root: string
  let folder: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'compat '))
    folder = mkdtempSync(join(tmpdir(), 'compat before '))
    for (const target of [folder, join(root, 'schemas')])
      for (const schemas of schemaFolders) cpSync(schemas, target, { recursive: true })
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
  function shorten(maxLength: number) {
    const file = join(root, 'schemas', event)
    const schema = JSON.parse(readFileSync(file, 'utf8'))
    schema.properties.CustomerTaxId.maxLength = maxLength
    writeFileSync(file, JSON.stringify(schema))
  }
  const compare = (...args: string[]) => run(compat, ['--schemas', join(root, 'schemas'), ...args])

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
    const inShallow = run(compat, ['--schemas', join(shallow, 'schemas')])
    expect(await usageError(inShallow)).to.contain(`version 1.0.0 as commit ${unknown}, which this clone does not have`)
  })

  it('rejects an unknown commit, and a folder without the schemas', async () => {
    git('init', '--quiet', '--initial-branch', 'main')
    commit()
    expect(await usageError(compare('--against', 'nowhere'))).to.match(/^nowhere is neither a folder nor a commit/)
    mkdirSync(join(root, 'empty'))
    expect(await usageError(compare('--against', join(root, 'empty')))).to.match(/has none of these schemas; /)
  })
})
