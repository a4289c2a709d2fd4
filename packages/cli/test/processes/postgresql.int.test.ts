import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { Client } from 'pg'
import { freeServicePorts } from '../../src/lib/free-ports.ts'
import { testFolder } from '../../src/lib/paths.ts'
import { loopbacks } from '../../src/lib/ports.ts'
import { inDatabase } from '../../src/lib/postgresql.ts'
import { type PostgresqlServer, startPostgresql } from '../../src/processes/postgresql.ts'
import { groupEnds, processState, signalGroup } from '../../src/processes/process-control.ts'
import { claimFolder, releaseFolder } from '../../src/processes/test-owner.ts'

const folder = testFolder('postgresql')

describe('a PostgreSQL server as a process', () => {
  let port: number
  let server: PostgresqlServer

  before(async () => {
    await claimFolder(folder)
    port = (await freeServicePorts()).http
    server = await startPostgresql(folder, port, ['first', 'another-one'])
  })
  after(() => releaseFolder(folder))

  async function ask(uri: string, question: string): Promise<unknown[][]> {
    const client = new Client({ connectionString: uri })
    await client.connect()
    try {
      return (await client.query({ text: question, rowMode: 'array' })).rows
    } finally {
      await client.end()
    }
  }
  const refusal = (uri: string) =>
    ask(uri, 'SELECT 1').then(
      () => 'none',
      (error: Error) => error.message,
    )

  it('contains the requested databases, and listens only on loopback', async () => {
    expect(await ask(inDatabase(server.uri, 'another-one'), 'SELECT current_database()')).to.deep.equal([
      ['another-one'],
    ])
    expect(await ask(inDatabase(server.uri, 'first'), 'SHOW listen_addresses')).to.deep.equal([[loopbacks().join()]])
  })

  it('requires its password', async () => {
    const wrong = Object.assign(new URL(inDatabase(server.uri, 'first')), { password: 'guessed' })
    expect(await refusal(wrong.href)).to.match(/password authentication failed/)
  })

  it('starts again, with all committed data, immediately after the server and its parent were killed', async () => {
    const uri = inDatabase(server.uri, 'first')
    await ask(uri, 'CREATE TABLE committed AS SELECT 8 AS number')
    const state = processState(folder, 'postgresql')
    if (state.state !== 'running') throw new Error('it does not run')
    signalGroup(state.group, 'SIGKILL')
    await groupEnds(state.group, 5_000)
    server = await startPostgresql(folder, port, [])
    expect(await ask(uri, 'SELECT number FROM committed')).to.deep.equal([[8]])
  })

  it('stops while clients are connected, and has its data after the next start', async () => {
    const uri = inDatabase(server.uri, 'first')
    await ask(uri, 'CREATE TABLE kept AS SELECT 7 AS number')
    const client = new Client({ connectionString: uri })
    client.on('error', () => {})
    await client.connect()
    const before = performance.now()
    await server.stop()
    expect(performance.now() - before).to.be.lessThan(10_000)
    expect(processState(folder, 'postgresql')).to.deep.equal({ state: 'stopped' })
    server = await startPostgresql(folder, port, ['first', 'a-third'])
    expect(await ask(uri, 'SELECT number FROM kept')).to.deep.equal([[7]])
    expect(await refusal(inDatabase(server.uri, 'a-third'))).to.equal('none')
  })

  it('runs below a folder that only another user can open', async () => {
    const closed = mkdtempSync(join(tmpdir(), 'orderflow-closed-'))
    const inside = join(closed, '.stack')
    mkdirSync(inside)
    await claimFolder(inside)
    try {
      const other = await startPostgresql(inside, (await freeServicePorts()).http, ['first'])
      expect(await ask(inDatabase(other.uri, 'first'), 'SELECT 1')).to.deep.equal([[1]])
    } finally {
      await releaseFolder(inside)
      rmSync(closed, { recursive: true })
    }
  })
})
