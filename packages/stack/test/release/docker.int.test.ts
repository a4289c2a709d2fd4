import { readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect } from 'chai'
import { CliError } from '../../src/base/error.ts'
import { docker, owned, removeOrphans } from '../../src/release/docker.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

describe('the docker command', () => {
  const before = { ...process.env }
  afterEach(() => {
    for (const name of Object.keys(process.env)) delete process.env[name]
    Object.assign(process.env, before)
  })

  function dockerIs(script: string): void {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'docker'), `#!/bin/bash\n${script}\n`, { mode: 0o755 })
    process.env.PATH = `${folder}${delimiter}${process.env.PATH}`
  }

  async function refusal(work: Promise<unknown>): Promise<CliError> {
    const error = await work.catch((caught: unknown) => caught)
    if (error instanceof CliError) return error
    throw new Error(`no refusal: ${error}`)
  }

  it('receives the secrets of the app only if they are passed explicitly', async () => {
    dockerIs('env')
    Object.assign(process.env, {
      ACCESS_TOKEN: 'a',
      MAKEFLAGS: '-- ACCESS_TOKEN=a',
      Stream__SaslPassword: 'a',
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a',
      OTHER: 'b',
    })
    const output = await docker(['version'], { env: { State__ConnectionString: 'c' } })
    expect(output.split('\n')).to.include.members(['OTHER=b', 'State__ConnectionString=c'])
    expect(output).to.not.match(/ACCESS_TOKEN|MAKEFLAGS|Stream__SaslPassword|OTLP_HEADERS/)
  })

  it('returns its standard output, and shows each line of standard output and standard error', async () => {
    dockerIs('echo one; echo two >&2')
    const lines: string[] = []
    expect(await docker(['version'], { onLine: (line) => lines.push(line) })).to.equal('one\n')
    expect(lines).to.have.members(['one', 'two'])
  })

  it('fails with the last lines of its output', async () => {
    dockerIs('seq 100; echo the reason >&2; exit 3')
    const { code, message } = await refusal(docker(['push', 'image']))
    expect(code).to.equal('docker')
    expect(message).to.match(/^docker push failed \(3\):\n81\n[\s\S]*\n100\nthe reason$/)
  })

  it('fails with a link to the installation if docker is missing', async () => {
    process.env.PATH = temporaryFolder()
    const { code, message, nextStep } = await refusal(docker(['version']))
    expect(code).to.equal('docker')
    expect(message).to.include('cannot run docker').and.include('ENOENT')
    expect(nextStep).to.include('https://docs.docker.com')
  })

  it('removes the containers of killed processes, even if another process has the pid of their owner', async () => {
    const removed = join(temporaryFolder(), 'removed')
    const [, own = ''] = owned
    const earlier = [String(process.pid), JSON.stringify({ pid: process.pid, startId: 'earlier' })]
    const labels = [own.replace(/^.*?=/, ''), ...earlier].map((label) => `'${label}'`).join(' ')
    dockerIs(`case "$1 $3" in
      'ps --filter') printf '%s\\n' ${labels} ;;
      'ps --quiet') echo "container of $5" ;;
      'rm --volumes') echo "$4" >>'${removed}' ;;
    esac`)
    await removeOrphans()
    const expected = earlier.map((label) => `container of label=orderflow.owner=${label}\n`)
    expect(readFileSync(removed, 'utf8')).to.equal(expected.join(''))
  })

  it('ends at Ctrl-C', async () => {
    dockerIs('echo started; exec sleep 60')
    const stopped = new AbortController()
    const work = docker(['build'], { onLine: () => stopped.abort(), signal: stopped.signal })
    expect((await refusal(work)).code).to.equal('interrupted')
  })
})
