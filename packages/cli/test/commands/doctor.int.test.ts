import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { expect } from 'chai'
import { removeFolders, temporaryFolder } from '../support.ts'

/** Runs the command on a simulated machine that has only these programs. Each program prints a text and succeeds. */
function doctor(programs: Record<string, string>, options: string[] = []) {
  const folder = temporaryFolder()
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho '${text}'\n`)
    chmodSync(join(bin, name), 0o755)
  }
  const variables = { PATH: bin, HOME: folder, ORDERFLOW_CACHE: join(folder, 'cache'), CHROMIUM_PATH: '/none' }
  return new Promise<{ code: number; lines: string[]; stderr: string }>((resolve) => {
    const args = [join(repository, 'packages/cli/src/cli.ts'), 'doctor', ...options]
    execFile(process.execPath, args, { env: variables }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), lines: stdout.split('\n'), stderr }),
    )
  })
}

describe('./orderflow doctor', () => {
  afterEach(removeFolders)

  it('lists for each use all tools that a new machine lacks, and fails because `make up` cannot run', async () => {
    const { code, lines, stderr } = await doctor({})
    expect(stderr).to.equal('')
    expect(code).to.equal(1)
    expect(lines).to.include.members([
      'make up, in containers: lacks npm, Docker engine, Docker Compose',
      'make up, as processes: lacks npm, Java, Go, Maven',
      'make observe, as processes: lacks Go, npm',
      'make test: lacks npm, Java, Go, Maven, Chromium, git, curl, Python with pip',
    ])
  })

  it('shows installed tools and the command for missing ones, and succeeds if `make up` can run', async () => {
    const { code, lines } = await doctor({
      'apt-get': '',
      npm: '10.8.2',
      java: 'openjdk version "21.0.8" 2025-07-15',
      go: 'go version go1.22.2 linux/amd64',
      mvn: 'Apache Maven 3.8.7',
    })
    expect(code).to.equal(0)
    expect(lines).to.include('make up, as processes: ready')
    expect(lines.find((line) => line.startsWith('Go '))).to.match(/1\.21 +1\.22$/)
    expect(lines[lines.indexOf('make test: lacks Chromium, git, curl, Python with pip') + 1]).to.match(
      /^ {4}(sudo )?apt-get install -y chromium-headless-shell git curl python3-pip$/,
    )
  })

  it('refuses an ambiguous value of `--install`', async () => {
    const { code, stderr } = await doctor({}, ['--install=perhaps'])
    expect(code).to.equal(1)
    expect(stderr).to.contain('--install=perhaps is neither yes nor no')
  })
})
