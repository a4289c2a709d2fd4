import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'

const program = fileURLToPath(new URL('unless-passed.ts', import.meta.url))

describe('test/repository/unless-passed.ts', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'orderflow-passed-'))
    execFileSync('git', ['init', '--quiet', folder])
    write('part/source', 'as it was')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  function run(code = 0, ...paths: string[]) {
    const command = [process.execPath, '-e', `console.log('tested'); process.exit(${code})`]
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [program, 'a part', 'part', ...paths, '--', ...command],
      {
        cwd: folder,
        env: { ...process.env, ORDERFLOW_CACHE: join(folder, '.git/cache') },
        encoding: 'utf8',
      },
    )
    return { status, wasTested: stdout.includes('tested\n'), stdout, stderr }
  }

  it('skips a command that has passed, and prints the reason, until a file changes, appears or is deleted', () => {
    expect(run()).to.include({ status: 0, wasTested: true })
    const again = run()
    expect(again).to.include({ status: 0, wasTested: false })
    expect(again.stdout).to.match(
      /^not run: a part \(passed before, .*; rm \S+ to test it again\)\n0 passed, 0 failed\n$/,
    )
    const changes = [
      () => write('part/source', 'as it is'),
      () => write('part/new', 'not committed'),
      () => rmSync(join(folder, 'part/new')),
    ]
    for (const change of changes) {
      change()
      expect(run().wasTested).to.equal(true)
    }
    write('elsewhere', 'no part of it')
    expect(run().wasTested).to.equal(false)
  })

  it('runs a command again after a failure', () => {
    for (const status of [3, 3]) expect(run(status)).to.include({ status, wasTested: true })
  })

  it('fails if one of its paths contains no files', () => {
    const { status, stderr } = run(0, 'misspelt')
    expect(status).to.equal(1)
    expect(stderr).to.contain('no files found at misspelt')
  })
})
