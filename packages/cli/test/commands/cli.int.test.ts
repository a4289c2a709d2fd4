import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { services } from '@orderflow/stack'
import { repository } from '@orderflow/stack/base'
import { processNamesWith } from '@orderflow/stack/internals'
import { expect } from 'chai'
import { removeFolders, temporaryFolder } from '../support.ts'

const cli = (args: string[], env = {}) =>
  promisify(execFile)(process.execPath, [join(repository, 'packages/cli/src/cli.ts'), ...args], {
    env: { ...process.env, ...env },
  })
    .then(({ stdout }) => ({ code: 0, stdout, stderr: '' }))
    .catch((error: { code: number; stdout: string; stderr: string }) => error)

const serviceNames = services.map(({ name }) => name).join(', ')

describe('./orderflow', () => {
  afterEach(removeFolders)
  const refused: [args: string[], env: object, stderr: string][] = [
    [['fly'], {}, 'error: unknown command fly\nnext: ./orderflow help lists all commands\n'],
    [['restart'], {}, `error: the name of a service is missing\nnext: SERVICE is one of ${serviceNames}\n`],
    [['rebuild'], {}, `error: the name of a service is missing\nnext: SERVICE is one of ${serviceNames}\n`],
    [
      ['dead-letters', 'list'],
      { Stream__Brokers: '127.0.0.1:1' },
      'error: the list of topics cannot be read at 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1\n' +
        'next: check that Kafka runs (make up), and that Stream__Brokers is right\n',
    ],
    [
      ['up'],
      { STACK: 'podman' },
      'error: STACK=podman is not supported\nnext: set STACK to local or docker or kubernetes, or leave it out\n',
    ],
    [
      ['up'],
      { STORE: 'mysql' },
      'error: STORE=mysql is not supported\n' +
        'next: set STORE to sqlite or postgresql as processes (STACK=local), mongodb or postgresql in containers (STACK=docker), mongodb or postgresql in Kubernetes (STACK=kubernetes), or leave it out\n',
    ],
    [
      ['up'],
      { STACK: 'local', STORE: 'mongodb' },
      'error: STORE=mongodb is not supported as processes (STACK=local)\n' +
        'next: set STORE to sqlite or postgresql as processes (STACK=local), mongodb or postgresql in containers (STACK=docker), mongodb or postgresql in Kubernetes (STACK=kubernetes), or leave it out\n',
    ],
    [['publish'], {}, 'error: the file is missing\nnext: ./orderflow publish event.json\n'],
    [
      ['scale', 'payment-service', '3', '--now'],
      {},
      'error: scale: unknown option --now\nnext: ./orderflow scale --help prints its options\n',
    ],
    [
      ['logs', 'nginx'],
      {},
      `error: unknown log nginx\nnext: SERVICE is one of ${processNamesWith({ store: 'sqlite', brokers: 1 }).join(', ')}\n`,
    ],
  ]
  for (const [args, env, stderr] of refused) {
    it(`refuses "${args.join(' ')}" ${Object.entries(env).join()} and names the next step`, async () => {
      expect(await cli(args, env)).to.include({ code: 1, stderr })
    })
  }

  it('lists all commands from any folder, and prints the options of a command', async () => {
    const run = (...args: string[]) => promisify(execFile)(join(repository, 'orderflow'), args, { cwd: tmpdir() })
    const { stdout } = await run()
    for (const name of ['up', 'publish', 'release']) expect(stdout).to.match(new RegExp(`^ {2}${name} +\\S`, 'm'))
    expect((await run('release', '--help')).stdout)
      .to.contain('--app NAME')
      .and.to.contain('--dry-run')
    expect((await run('envelope', 'validate', '--help')).stdout).to.match(/^Usage: envelope validate/)
  })

  it('refuses to publish an invalid event and names every problem', async () => {
    const file = join(temporaryFolder(), 'event.json')
    writeFileSync(file, '[]')
    const result = await cli(['publish', file])
    expect(result).to.have.property('code', 1)
    expect(result.stderr).to.match(/^error: this is not a valid event:\n {2}the document must be an object/)
    expect(result.stderr).to.include('--raw')
  })
})
