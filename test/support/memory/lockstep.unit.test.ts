import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { expect } from 'chai'
import { type Lockstep, openLockstep, type Protocol } from './lockstep.ts'
import { mongodb, postgresql } from './wire.ts'

function command(name: string): Buffer {
  const document = Buffer.concat([
    Buffer.from([0, 0, 0, 0, 0x10]),
    Buffer.from(`${name}\0`),
    Buffer.from([1, 0, 0, 0, 0]),
  ])
  document.writeInt32LE(document.length)
  const header = Buffer.alloc(21)
  header.writeInt32LE(2013, 12)
  const message = Buffer.concat([header, document])
  message.writeInt32LE(message.length)
  return message
}

function message(letter: string, text = ''): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(4 + text.length)
  return Buffer.concat([Buffer.from(letter), length, Buffer.from(text)])
}

describe('the counter of round trips', () => {
  let server: Server
  let lockstep: Lockstep
  const sockets: Socket[] = []
  /** Starts a server that answers each chunk of data that ends with `end`, and a proxy in front of it. */
  async function serve(answer: Buffer, protocol: Protocol, end: Buffer = Buffer.of()) {
    const answerTo = (socket: Socket) => (chunk: Buffer) => {
      if (chunk.subarray(chunk.length - end.length).equals(end)) socket.write(answer)
    }
    server = createServer((socket) => socket.on('error', () => {}).on('data', answerTo(socket))).listen(0, '127.0.0.1')
    await once(server, 'listening')
    lockstep = await openLockstep((server.address() as AddressInfo).port, protocol)
  }
  async function client() {
    const socket = connect(lockstep.port, '127.0.0.1').on('error', () => {})
    sockets.push(socket)
    await once(socket, 'connect')
    return async (...parts: Buffer[]) => {
      for (const part of parts) socket.write(part)
      await once(socket, 'data')
    }
  }
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
    lockstep.close()
    server.close()
  })

  it('counts one round trip for each request if each waits for the answer to the previous one', async () => {
    await serve(command('ok'), mongodb)
    const ask = await client()
    const work = async () => {
      for (let time = 0; time < 3; time += 1) await ask(command('find'))
    }
    expect(await lockstep.roundTripsOf(work)).to.equal(3)
  })

  it('counts one round trip for requests that are sent at the same time on different connections', async () => {
    await serve(command('ok'), mongodb)
    const clients = await Promise.all(Array.from({ length: 20 }, client))
    expect(await lockstep.roundTripsOf(() => Promise.all(clients.map((ask) => ask(command('update')))))).to.equal(1)
  })

  it('ignores the greetings of a driver, even in several packets', async () => {
    await serve(command('ok'), mongodb)
    const ask = await client()
    const hello = command('hello')
    expect(await lockstep.roundTripsOf(() => ask(hello.subarray(0, 9), hello.subarray(9)))).to.equal(0)
  })

  it('counts one round trip for a PostgreSQL statement up to ReadyForQuery, and none for the login', async () => {
    await serve(Buffer.concat([message('C', 'INSERT'), message('Z', 'I')]), postgresql, message('S'))
    const ask = await client()
    const [statement, login] = [
      Buffer.concat([message('B'), message('E'), message('S')]),
      message('', message('S').toString()),
    ]
    expect(await lockstep.roundTripsOf(() => ask(login))).to.equal(0)
    expect(await lockstep.roundTripsOf(() => ask(statement))).to.equal(1)
  })

  it('ignores the PostgreSQL driver’s check of a connection', async () => {
    await serve(Buffer.concat([message('I'), message('Z', 'I')]), postgresql)
    const ask = await client()
    await ask(message('', 'user'))
    expect(await lockstep.roundTripsOf(() => ask(message('Q', '-- ping\0')))).to.equal(0)
  })

  it('counts one round trip for PostgreSQL statements that are sent together', async () => {
    const ready = message('Z', 'I')
    await serve(Buffer.concat([ready, ready]), postgresql, message('S'))
    const ask = await client()
    await ask(message('', message('S').toString()))
    const together = Buffer.concat([message('P'), message('S'), message('B'), message('S')])
    expect(await lockstep.roundTripsOf(() => ask(together))).to.equal(1)
  })
})
