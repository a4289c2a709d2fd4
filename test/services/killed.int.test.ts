import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { eventually, repository } from '@orderflow/stack/base'
import { expect } from 'chai'

const killedAtRename = `data:text/javascript,${encodeURIComponent(`
  import fs from 'node:fs'
  import { syncBuiltinESMExports } from 'node:module'
  fs.renameSync = () => process.kill(process.pid, 'SIGKILL')
  syncBuiltinESMExports()`)}`

/** For each file with a secret: the command that prepares the test, the command that writes the file, and the command of the next start. */
const writers: [what: string, first: string, write: string, next: string][] = [
  [
    'the tokens of a stack',
    '',
    "import { stackTokens } from './packages/stack/src/processes/plan.ts'; stackTokens(folder)",
    "import { stackTokens } from './packages/stack/src/processes/plan.ts'; stackTokens(folder)",
  ],
  [
    'a password of a stack',
    "import { stackTokens } from './packages/stack/src/processes/plan.ts'; stackTokens(folder)",
    "import { stackPassword } from './packages/stack/src/processes/plan.ts'; stackPassword(folder, 'test')",
    "import { stackTokens } from './packages/stack/src/processes/plan.ts'; stackTokens(folder)",
  ],
  [
    'the key of a certificate',
    '',
    "import { localCertificate } from './packages/stack/src/base/credentials.ts'; await localCertificate(folder)",
    "import { localCertificate } from './packages/stack/src/base/credentials.ts'; await localCertificate(folder)",
  ],
  [
    'a new .env',
    '',
    "import { ensureEnvFile } from './packages/stack/src/containers/project.ts'; await ensureEnvFile(folder)",
    "import { ensureEnvFile } from './packages/stack/src/containers/project.ts'; await ensureEnvFile(folder)",
  ],
  [
    'a change of .env',
    "import { ensureEnvFile } from './packages/stack/src/containers/project.ts'; await ensureEnvFile(folder)",
    "import { recordServers } from './packages/stack/src/containers/project.ts'; recordServers({ store: 'postgresql', brokers: 1 }, folder)",
    "import { ensureEnvFile } from './packages/stack/src/containers/project.ts'; await ensureEnvFile(folder)",
  ],
  [
    'the config vars of a release',
    '',
    "import { replaceFile } from './packages/stack/src/base/files.ts'; replaceFile(folder + '/vars.json', JSON.stringify({ A: 'the-secret' }), 0o600)",
    "import { readPrivate } from './packages/stack/src/release/record.ts'; readPrivate(folder + '/vars.json')",
  ],
]

describe('a command that is killed with -9 while it writes a secret', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'killed-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  function start(script: string, ...options: string[]) {
    const source = `const folder = ${JSON.stringify(folder)}; ${script}`
    const args = [...options, '--input-type=module', '-e', source]
    return spawn(process.execPath, args, { cwd: repository, detached: true, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  async function run(script: string, ...options: string[]): Promise<number | string> {
    const [status, signal] = await once(start(script, ...options), 'exit')
    return status ?? signal
  }
  const files = () =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(folder, name)).isFile())
  const filesWith = (secret: string) =>
    files().filter((name) => readFileSync(join(folder, name), 'utf8').includes(secret))

  for (const [what, first, write, next] of writers) {
    it(`leaves no temporary file with ${what} after the next start`, async () => {
      if (first) expect(await run(first)).to.equal(0)
      const before = files()
      expect(await run(write, '--import', killedAtRename)).to.equal('SIGKILL')
      const left = files().filter((name) => !before.includes(name))
      expect(left).to.have.length(1)
      expect(statSync(join(folder, left[0] ?? '')).mode & 0o777).to.equal(0o600)
      expect(await run(next)).to.equal(0)
      expect(files()).not.to.include.members(left)
      expect(files().filter((name) => name.endsWith('.new'))).to.deep.equal([])
    })
  }

  it('leaves the password of PostgreSQL only in the file for this password', async function () {
    if (!existsSync('/usr/lib/postgresql')) return this.skip()
    const script =
      "import { preparePostgresql } from './packages/stack/src/processes/servers/postgresql.ts'; await preparePostgresql(folder)"
    const child = start(script)
    // The test may not list the files here, because initdb removes some of them meanwhile.
    const begun = () => existsSync(join(folder, 'data/postgresql.new/PG_VERSION'))
    await eventually(begun, 'initdb to begin')
    process.kill(-(child.pid as number), 'SIGKILL')
    await once(child, 'exit')
    const password = readFileSync(join(folder, 'postgresql.password'), 'utf8')
    expect(filesWith(password)).to.deep.equal(['postgresql.password'])
  })

  const examples: [script: string, tool: string, variables: Record<string, string>][] = [
    ['kcat', 'kcat', { KAFKA_USER: 'me', KAFKA_PASSWORD: 'the-secret', KAFKA_CA: '/ca.crt' }],
    ['curl', 'curl', { API_KEY: 'the-secret' }],
  ]
  for (const [script, tool, variables] of examples) {
    it(`leaves no temporary file with a secret when docs/examples/${script}/publish.sh is killed`, async () => {
      const bin = join(folder, 'bin')
      const temporary = join(folder, 'tmp')
      for (const one of [bin, temporary]) mkdirSync(one)
      const text = `#!/bin/bash
case $1 in -V) echo 'Version 1.7 (librdkafka 2.8.0)'; exit ;; esac
while [ $# -gt 0 ]; do
  case $1 in -F) settings=$2 ;; --config) settings=/dev/stdin ;; esac
  shift
done
cat "$settings" >"${folder}/read"
# Kills the whole group: this tool, publish.sh and its subshell.
kill -9 0
`
      writeFileSync(join(bin, tool), text)
      chmodSync(join(bin, tool), 0o755)
      const env = { ...process.env, ...variables, TMPDIR: temporary, PATH: `${bin}${delimiter}${process.env.PATH}` }
      const child = spawn(
        join(repository, `docs/examples/${script}/publish.sh`),
        [join(repository, 'docs/examples/event.json')],
        {
          env,
          stdio: 'ignore',
          detached: true,
        },
      )
      expect((await once(child, 'exit'))[1]).to.equal('SIGKILL')
      expect(filesWith('the-secret')).to.deep.equal(['read'])
    })
  }
})
