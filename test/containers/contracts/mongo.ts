import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '@orderflow/stack/base'
import { docker } from '@orderflow/stack/machine'
import { expect } from 'chai'
import { MongoClient } from 'mongodb'
import { GenericContainer, type StartedTestContainer, Wait } from 'testcontainers'

const root = { name: 'root', password: 'pä$s: w/rd' }
const credentials = `${root.name}:${encodeURIComponent(root.password)}`
const codes = {
  Unauthorized: 13,
  AuthenticationFailed: 18,
  AlreadyInitialized: 23,
  InvalidReplicaSetConfig: 93,
  NotYetInitialized: 94,
  NotWritablePrimary: 10107,
  DuplicateKey: 11000,
}

const kills = 3
const writers = 8

/** A replica set with passwords needs a key file. */
const start = `openssl rand -base64 756 >/tmp/keyfile && chmod 400 /tmp/keyfile && chown mongodb /tmp/keyfile
  exec docker-entrypoint.sh mongod --replSet rs0 --keyFile /tmp/keyfile --bind_ip_all`

export function mongoContract(image: string): void {
  let server: StartedTestContainer
  const clients: MongoClient[] = []

  const connect = async (user = `${credentials}@`) => {
    const uri = `mongodb://${user}127.0.0.1:${server.getMappedPort(27017)}/?directConnection=true&retryWrites=false`
    const client = await MongoClient.connect(uri, { serverSelectionTimeoutMS: 5_000 })
    clients.push(client)
    return client
  }
  const untilPrimary = async (client: MongoClient) =>
    eventually(async () => {
      const { isWritablePrimary } = await client.db('admin').command({ hello: 1 })
      return isWritablePrimary || undefined
    }, 'it is primary')
  const shell = async (script: string, path = '') => {
    const address = `mongodb://${credentials}@localhost:27017/${path}`
    const { output } = await server.exec(['mongosh', '--quiet', '--norc', address, '--eval', script])
    return output.trim()
  }

  before(async () => {
    server = await new GenericContainer(image)
      .withEntrypoint(['bash', '-c', start])
      .withEnvironment({ MONGO_INITDB_ROOT_USERNAME: root.name, MONGO_INITDB_ROOT_PASSWORD: root.password })
      .withExposedPorts(27017)
      .withWaitStrategy(Wait.forListeningPorts())
      .start()
    // On its first start, the real server accepts connections only from loopback until it has created the root user.
    await eventually(() => connect().catch(() => undefined), 'it lets its root user in', 60_000)
  })
  after(async () => {
    await Promise.all(clients.map((client) => client.close()))
    await server?.stop()
  })

  it('creates a root user on its first start, and rejects everyone else', async () => {
    const { users } = await (await connect()).db('admin').command({ usersInfo: root.name })
    expect(users[0].roles).to.deep.equal([{ role: 'root', db: 'admin' }])
    const list = async (user: string) => (await connect(user)).db('t').listCollections().toArray()
    expect(await codeOf(list(''))).to.equal(codes.Unauthorized)
    expect(await codeOf(list('root:other@'))).to.equal(codes.AuthenticationFailed)
  })

  it('accepts writes only after a replica set is initiated', async () => {
    const client = await connect()
    const admin = client.db('admin')
    expect(await codeOf(admin.command({ replSetGetStatus: 1 }))).to.equal(codes.NotYetInitialized)
    expect(await codeOf(client.db('t').collection('c').insertOne({}))).to.equal(codes.NotWritablePrimary)
    expect((await admin.command({ hello: 1 })).isWritablePrimary).to.equal(false)

    const initiate = (name: string) =>
      admin.command({ replSetInitiate: { _id: name, members: [{ _id: 0, host: 'localhost:27017' }] } })
    expect(await codeOf(initiate('other'))).to.equal(codes.InvalidReplicaSetConfig)
    await initiate('rs0')
    expect(await codeOf(initiate('rs0'))).to.equal(codes.AlreadyInitialized)
    await untilPrimary(client)
  })

  it('reports the name and address of the initiated replica set to drivers', async () => {
    const script = 'print(db.hello().setName, db.hello().me, rs.status().members.length)'
    expect(await shell(script, '?replicaSet=rs0')).to.equal('rs0 localhost:27017 1')
  })

  it('commits a transaction as a whole, or rolls it back', async () => {
    const client = await connect()
    const collection = client.db('t').collection<{ _id: string }>('transactions')
    const both = [{ _id: 'a' }, { _id: 'b' }]
    await client.withSession(async (session) => {
      await session.withTransaction(async () => void (await collection.insertMany(both, { session })))
      const failing = session.withTransaction(async () => {
        await collection.insertOne({ _id: 'c' }, { session })
        await collection.insertOne({ _id: 'a' }, { session })
      })
      expect(await codeOf(failing)).to.equal(codes.DuplicateKey)
    })
    expect(await collection.find().toArray()).to.deep.equal(both)
  })

  it(`keeps every acknowledged write when it is killed ${kills} times under load`, async () => {
    const acknowledged: string[] = []
    for (let round = 0; round < kills; round += 1) {
      const client = await connect()
      await untilPrimary(client)
      const collection = client.db('t').collection<{ _id: string }>('kills')
      const load = Array.from({ length: writers }, async (_, writer) => {
        for (let number = 0; ; number += 1) {
          const _id = `${round}-${writer}-${number}`
          await collection.insertOne({ _id }, { writeConcern: { w: 'majority' } })
          acknowledged.push(_id)
        }
      })
      const ended = Promise.allSettled(load)
      const before = acknowledged.length
      await eventually(() => acknowledged.length > before + 100 || undefined, 'writes are acknowledged')
      await delay(Math.random() * 200)
      await docker('kill', server.getId())
      await ended
      await server.restart()
    }
    const client = await connect()
    await untilPrimary(client)
    const stored = await client.db('t').collection<{ _id: string }>('kills').find().toArray()
    const ids = new Set(stored.map(({ _id }) => _id))
    expect(acknowledged.filter((id) => !ids.has(id))).to.deep.equal([])
    expect(acknowledged.length).to.be.above(kills * 100)
  })
}

function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'no error',
    (error: { code?: unknown }) => error.code ?? error,
  )
}
