import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '@orderflow/stack/base'
import { docker } from '@orderflow/stack/machine'
import { expect } from 'chai'
import { Client } from 'pg'
import { GenericContainer, type StartedTestContainer, Wait } from 'testcontainers'

const root = { user: 'keeper', password: 'pä$s: w/rd' }
const kills = 3
const writers = 8

export function postgresqlContract(image: string): void {
  let server: StartedTestContainer
  const clients: Client[] = []

  const connect = async (password = root.password, database = root.user) => {
    const client = new Client({ ...root, password, database, host: '127.0.0.1', port: server.getMappedPort(5432) })
    client.on('error', () => {})
    await client.connect()
    clients.push(client)
    return client
  }
  const connected = () => eventually(() => connect().catch(() => undefined), 'it lets its user in', 60_000)

  before(async () => {
    server = await new GenericContainer(image)
      .withCommand(['postgres', '-c', 'max_connections=123'])
      .withEnvironment({ POSTGRES_USER: root.user, POSTGRES_PASSWORD: root.password })
      .withExposedPorts(5432)
      .withWaitStrategy(Wait.forListeningPorts())
      .start()
    await connected()
  })
  after(async () => {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
    await server?.stop()
  })

  it('creates a superuser and a database on its first start, and rejects everyone else', async () => {
    const { rows } = await (await connect()).query('SELECT usesuper FROM pg_user WHERE usename = current_user')
    expect(rows).to.deep.equal([{ usesuper: true }])
    const refusal = await connect('guessed').catch((error: { code?: string }) => error.code)
    expect(refusal).to.equal('28P01')
  })

  it('applies the options of its start command, stores text as UTF-8, and keeps its data in its volume', async () => {
    const client = await connect()
    const shown = async (name: string) => Object.values((await client.query(`SHOW ${name}`)).rows[0]).join()
    expect(await shown('max_connections')).to.equal('123')
    expect(await shown('server_encoding')).to.equal('UTF8')
    expect(await shown('data_directory')).to.equal('/var/lib/postgresql/data')
  })

  it('answers pg_isready over TCP, and runs as the user postgres', async () => {
    const { exitCode } = await server.exec(['pg_isready', '--quiet', '--host=127.0.0.1'])
    expect(exitCode).to.equal(0)
    const { output } = await server.exec(['stat', '-c', '%U', '/proc/1'])
    expect(output.trim()).to.equal('postgres')
  })

  it(`keeps every acknowledged row when it is killed ${kills} times under load`, async () => {
    const acknowledged: string[] = []
    await (await connect()).query('CREATE TABLE kills (id text PRIMARY KEY)')
    for (let round = 0; round < kills; round += 1) {
      const load = Array.from({ length: writers }, async (_, writer) => {
        const client = await connect()
        for (let number = 0; ; number += 1) {
          const id = `${round}-${writer}-${number}`
          await client.query('INSERT INTO kills VALUES ($1)', [id])
          acknowledged.push(id)
        }
      })
      const ended = Promise.allSettled(load)
      const before = acknowledged.length
      await eventually(() => acknowledged.length > before + 100 || undefined, 'rows are acknowledged')
      await delay(Math.random() * 200)
      await docker('kill', server.getId())
      await ended
      await server.restart()
      await connected()
    }
    const { rows } = await (await connect()).query<{ id: string }>('SELECT id FROM kills')
    const ids = new Set(rows.map(({ id }) => id))
    expect(acknowledged.filter((id) => !ids.has(id))).to.deep.equal([])
    expect(acknowledged.length).to.be.above(kills * 100)
  })
}
