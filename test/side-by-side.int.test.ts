import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'

const program = fileURLToPath(new URL('side-by-side.ts', import.meta.url))

/** Each of two waits for what the other writes: they end when they run at the same time. */
const makefile = `
first:
	@touch first; until [ -e second ]; do sleep 0.05; done; echo '3 passed, 0 failed'
second:
	@touch second; until [ -e first ]; do sleep 0.05; done; echo 'not run: something (no engine)'; echo '2 passed, 0 failed'
third:
	@echo 'after the first'; [ -e second ]; echo '4 passed, 0 failed'
broken:
	@echo '  1 failing'; echo '  it broke'; echo '0 passed, 1 failed'; exit 1
`

describe('suites side by side', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'orderflow-side-'))
    writeFileSync(join(folder, 'Makefile'), makefile)
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  function run(...sequences: string[]) {
    // A make that is started by another one tells of folders.
    const { MAKELEVEL: _level, MAKEFLAGS: _flags, ...env } = process.env
    const { status, stdout } = spawnSync(process.execPath, [program, ...sequences], {
      cwd: folder,
      env,
      encoding: 'utf8',
    })
    return { status, lines: stdout.split('\n').filter(Boolean) }
  }

  it('run at the same time, or after one another where a comma says so, and are counted together', () => {
    const { status, lines } = run('first,third', 'second')
    expect(status).to.equal(0)
    expect(lines).to.include.members(['third  | after the first', 'second | 2 passed, 0 failed'])
    expect(lines.slice(-2)).to.deep.equal(['not run: something (no engine)', '9 passed, 0 failed'])
  })

  it('run targets of the folder that is named', () => {
    const { status, lines } = run('-C', folder, 'first', 'second', 'broken')
    expect(status).to.equal(1)
    expect(lines).to.include(`make -C ${folder} broken failed; alone it runs with that command`)
  })

  it('say at the end what failed, and what was not run for that', () => {
    const { status, lines } = run('first,broken,third', 'second')
    expect(status).to.equal(1)
    expect(lines.slice(-6)).to.deep.equal([
      'make broken failed; alone it runs with that command',
      '  1 failing',
      '  it broke',
      'not run: third (broken failed)',
      'not run: something (no engine)',
      '5 passed, 1 failed',
    ])
  })
})
