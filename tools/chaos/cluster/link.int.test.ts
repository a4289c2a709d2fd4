import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { eventually, testFolder } from '@orderflow/stack/base'
import { claimFolder, provisionTools, releaseFolder, startProcess } from '@orderflow/stack/internals'
import { expect } from 'chai'
import { type Link, linkTo, linkTool } from './link.ts'

const folder = testFolder('link')

describe('a link', () => {
  let server: Server
  let link: Link
  const atServer: Socket[] = []
  before(async () => {
    await provisionTools([linkTool], { onProgress: () => {} })
    await claimFolder(folder)
    server = createServer((socket) => {
      atServer.push(socket.on('error', () => {}))
      socket.pipe(socket)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    link = await linkTo(`127.0.0.1:${(server.address() as AddressInfo).port}`, 'link')
    startProcess(folder, link.spec)
    await eventually(
      () =>
        link
          .open()
          .then(() => true)
          .catch(() => false),
      'the link to be there',
    )
  })
  afterEach(() => Promise.all([link.open(), link.setRoundTrip(0)]))
  after(async () => {
    for (const socket of atServer) socket.destroy()
    server?.close()
    await releaseFolder(folder)
  })

  function dial(): Socket {
    const [host = '', port] = link.address.split(':')
    return connect(Number(port), host)
  }

  /** Returns a client of the server, with the state of its connection. */
  async function client() {
    const socket = dial()
    const heard: string[] = []
    const errors: string[] = []
    socket.on('data', (data) => heard.push(data.toString()))
    socket.on('error', (error: NodeJS.ErrnoException) => errors.push(error.code ?? ''))
    const hears = (text: string) => eventually(() => heard.join('') === text, `${text} instead of ${heard.join('')}`)
    const fails = () => eventually(() => errors.length > 0, 'an error')
    await once(socket, 'connect')
    return { socket, heard, errors, hears, fails }
  }

  it('forwards data and the end of the connection in both directions', async () => {
    const { socket, hears } = await client()
    socket.write('hello')
    await hears('hello')
    socket.end()
    await once(socket, 'close')
  })

  it('delays data by the link’s round trip', async () => {
    const { socket, hears } = await client()
    await link.setRoundTrip(200)
    const since = performance.now()
    socket.write('slow')
    await hears('slow')
    expect(performance.now() - since).to.be.at.least(199)
    socket.destroy()
  })

  it('holds data and new connections, and forwards them when the link opens', async () => {
    const { socket, heard, hears, errors } = await client()
    socket.write('a')
    await hears('a')
    await link.hold()
    const accepted = atServer.length
    socket.write('b')
    const other = await client()
    other.socket.write('c')
    // Forwarded data would arrive within a millisecond.
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect([heard, other.heard, atServer.length]).to.deep.equal([['a'], [], accepted])
    await link.open()
    await hears('ab')
    await other.hears('c')
    expect(errors).to.deep.equal([])
    socket.destroy()
    other.socket.destroy()
  })

  it('resets all connections on both sides when the link is cut, and resets new connections until the link opens', async () => {
    const { socket, hears, errors, fails } = await client()
    socket.write('a')
    await hears('a')
    const failed = once(atServer.at(-1) as Socket, 'error')
    await link.cut()
    await fails()
    expect(errors).to.deep.equal(['ECONNRESET'])
    expect((await failed)[0].code).to.equal('ECONNRESET')
    const [refusal] = await once(dial(), 'error')
    expect(refusal.code).to.equal('ECONNRESET')
    await link.open()
    const again = await client()
    again.socket.write('b')
    await again.hears('b')
    again.socket.destroy()
  })

  it('drops held data when the link is cut', async () => {
    const { socket, heard, fails, hears } = await client()
    socket.write('a')
    await hears('a')
    const told = once(atServer.at(-1) as Socket, 'error')
    const atServerHeard: string[] = []
    atServer.at(-1)?.on('data', (data) => atServerHeard.push(data.toString()))
    await link.hold()
    socket.write('lost')
    await link.cut()
    await fails()
    await told
    await link.open()
    expect([heard, atServerHeard]).to.deep.equal([['a'], []])
  })
})
