import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'

const program = fileURLToPath(new URL('side-by-side.ts', import.meta.url))

/** Each of the first two targets waits for a file of the other, so they end only if they run at the same time. */
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

describe('test/repository/side-by-side.ts', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'orderflow-side-'))
    writeFileSync(join(folder, 'Makefile'), makefile)
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  function run(...sequences: string[]) {
    // A `make` that another `make` has started prints the names of folders.
    const { MAKELEVEL: _level, MAKEFLAGS: _flags, ...env } = process.env
    const { status, stdout } = spawnSync(process.execPath, [program, ...sequences], {
      cwd: folder,
      env,
      encoding: 'utf8',
    })
    return { status, lines: stdout.split('\n').filter(Boolean) }
  }

  it('runs targets at the same time, or in turn if a comma joins them, and adds up the numbers of tests', () => {
    const { status, lines } = run('first,third', 'second')
    expect(status).to.equal(0)
    expect(lines).to.include.members(['third  | after the first', 'second | 2 passed, 0 failed'])
    expect(lines.slice(-2)).to.deep.equal(['not run: something (no engine)', '9 passed, 0 failed'])
  })

  it('runs targets of the given folder', () => {
    const { status, lines } = run('-C', folder, 'first', 'second', 'broken')
    expect(status).to.equal(1)
    expect(lines).to.include(`broken failed; run it alone with: make -C ${folder} broken`)
  })

  it('reports at the end which targets failed, and which were skipped for that reason', () => {
    const { status, lines } = run('first,broken,third', 'second')
    expect(status).to.equal(1)
    expect(lines.slice(-6)).to.deep.equal([
      'broken failed; run it alone with: make broken',
      '  1 failing',
      '  it broke',
      'not run: third (broken failed)',
      'not run: something (no engine)',
      '5 passed, 1 failed',
    ])
  })
})
