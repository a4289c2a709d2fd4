import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { compat } from '../../src/cli/compat.ts'
import { contractFolder } from '../../src/index.ts'
import { run, usageError } from '../cli/run.ts'

const folder = fileURLToPath(new URL('schemas', contractFolder))
const event = 'events/OrderCreated.1.json'

describe('envelope compat', () => {
  let root: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'compat '))
    cpSync(folder, join(root, 'schemas'), { recursive: true })
  })
  afterEach(() => rmSync(root, { recursive: true }))

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

  it('compares with a folder, and fails with the reason', async () => {
    expect(await compare('--against', folder)).to.deep.equal({ code: 0, out: `compatible with ${folder}\n`, error: '' })
    shorten(32)
    const { code, out } = await compare('--against', folder)
    expect(code).to.equal(1)
    expect(out.split('\n').slice(0, 2)).to.deep.equal([
      `${event}: error: changed under its Version (forward): leave it, and write the next Version`,
      '  /CustomerTaxId maxLength was 64 and is 32 (breaks backward)',
    ])
  })

  it('compares with the last release, and before that with where the branch left main, or the commit before', async () => {
    git('init', '--quiet', '--initial-branch', 'main')
    commit()
    expect((await compare()).code, 'the first commit').to.equal(0)
    shorten(32)
    expect((await compare()).code, 'not committed').to.equal(1)
    commit()
    expect((await compare()).code, 'committed to main').to.equal(1)
    git('tag', 'v1.0.0')
    commit()
    expect((await compare()).out).to.equal('compatible with v1.0.0\n')
    shorten(16)
    commit()
    commit()
    expect((await compare()).code, 'two commits after a release').to.equal(1)
    git('tag', '--delete', 'v1.0.0')
    expect((await compare()).code).to.equal(0)
    git('checkout', '--quiet', '-b', 'other')
    shorten(8)
    commit()
    commit()
    expect((await compare()).code, 'two commits on a branch').to.equal(1)
    expect((await compare('--against', 'HEAD')).code).to.equal(0)
  })

  it('compares with the last release of releases.json, also in a clone without tags', async () => {
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
    // The files without their history: there is no such commit to fetch.
    expect((await compare()).code).to.equal(0)
    const shallow = join(root, 'shallow')
    git('clone', '--quiet', '--depth', '1', pathToFileURL(root).href, shallow)
    const inShallow = run(compat, ['--schemas', join(shallow, 'schemas')])
    expect(await usageError(inShallow)).to.contain(`version 1.0.0 is commit ${unknown}, which this clone does not have`)
  })

  it('does not pass where there is nothing to compare with', async () => {
    expect(await usageError(compare())).to.match(/^there is no history here/)
    git('init', '--quiet', '--initial-branch', 'main')
    commit()
    commit()
    const shallow = join(root, 'shallow')
    git('clone', '--quiet', '--depth', '1', pathToFileURL(root).href, shallow)
    const inShallow = run(compat, ['--schemas', join(shallow, 'schemas')])
    expect(await usageError(inShallow)).to.match(/git fetch --unshallow --tags/)
    expect(await usageError(compare('--against', 'nowhere'))).to.match(/^nowhere is no folder, and no commit/)
    mkdirSync(join(root, 'empty'))
    expect(await usageError(compare('--against', join(root, 'empty')))).to.match(/has none of these schemas$/)
  })
})
