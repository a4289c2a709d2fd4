import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createSecureContext, TLSSocket } from 'node:tls'
import { expect } from 'chai'
import { generate } from 'selfsigned'
import { makeCertificate } from '../../src/base/credentials.ts'
import type { CliError } from '../../src/base/error.ts'
import { prepareDatabases } from '../../src/stores/databases.ts'
import { connect, tlsSettings } from '../../src/stores/libpq.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

/** The servers by their rules: the kinds of connections that each one accepts. */
const servers = {
  'without TLS': ['plain'],
  'with both': ['plain', 'tls'],
  'with TLS only': ['tls'],
  'with TLS for others': ['plain', 'no tls'],
}
type Rules = (typeof servers)[keyof typeof servers]

const message = (type: string, body: Buffer) => {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}
const authenticated = Buffer.concat([message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))])
const refusal = message('E', Buffer.from('SFATAL\0VFATAL\0C28000\0Mno pg_hba.conf entry\0\0'))
const tlsRequest = 80877103

/** Speaks the beginning of PostgreSQL's protocol. */
function startServer(rules: Rules, pair: { certificate: string; key: string }): Promise<Server> {
  const secureContext = createSecureContext({ cert: pair.certificate, key: pair.key })
  const greet = (socket: Socket, isAccepted: boolean) => {
    socket.once('data', () => (isAccepted ? socket.write(authenticated) : socket.end(refusal)))
  }
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (first) => {
      if (first.readInt32BE(4) !== tlsRequest) {
        if (rules.includes('plain')) socket.write(authenticated)
        else socket.end(refusal)
      } else if (!rules.includes('tls') && !rules.includes('no tls')) {
        socket.write('N')
        greet(socket, true)
      } else {
        socket.write('S')
        const secure = new TLSSocket(socket, { isServer: true, secureContext })
        secure.on('error', () => {})
        greet(secure, rules.includes('tls'))
      }
    })
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}

describe('connect', () => {
  const ports = new Map<string, number>()
  const started: Server[] = []
  let [own, other] = ['', '']

  before(async () => {
    const folder = temporaryFolder()
    const pair = await makeCertificate()
    ;[own, other] = ['own', 'other'].map((name) => join(folder, `${name}.pem`)) as [string, string]
    writeFileSync(own, pair.certificate)
    writeFileSync(other, (await makeCertificate()).certificate)
    for (const [name, rules] of Object.entries(servers)) {
      const server = await startServer(rules, pair)
      started.push(server)
      ports.set(name, (server.address() as AddressInfo).port)
    }
  })
  after(() => {
    for (const server of started) server.close()
    removeFolders()
  })

  const uriOf = (server: string, parameters: string) =>
    `postgres://me:secret@127.0.0.1:${ports.get(server)}/postgres?${parameters}`

  /** Returns `plain` or `tls`, or the code of an error. */
  async function resultOf(uri: string): Promise<string> {
    try {
      const client = await connect(uri)
      const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
      stream.destroy()
      return stream instanceof TLSSocket ? 'tls' : 'plain'
    } catch (error) {
      return (error as CliError).code ?? (error as Error).message
    }
  }

  const noTls = 'The server does not support SSL connections'
  /** The results of libpq for the servers, in their order. */
  const results: Record<string, string[]> = {
    'sslmode=disable': ['plain', 'plain', '28000', 'plain'],
    'sslmode=allow': ['plain', 'plain', 'tls', 'plain'],
    'sslmode=prefer': ['plain', 'tls', 'tls', 'plain'],
    '': ['plain', 'tls', 'tls', 'plain'],
    'sslmode=require': [noTls, 'tls', 'tls', '28000'],
    'sslmode=verify-ca': [noTls, 'denied', 'denied', 'denied'],
    'sslmode=verify-full': [noTls, 'denied', 'denied', 'denied'],
  }
  for (const [parameters, expected] of Object.entries(results)) {
    it(`connects with "${parameters}" as libpq does, to a server with a self-signed certificate`, async () => {
      const seen = []
      for (const server of Object.keys(servers)) seen.push(await resultOf(uriOf(server, parameters)))
      expect(seen).to.deep.equal(expected)
    })
  }

  it('verifies the certificate with require, verify-ca and verify-full, if sslrootcert names a file', async () => {
    const with_ = (mode: string, file: string) => resultOf(uriOf('with both', `sslmode=${mode}&sslrootcert=${file}`))
    for (const mode of ['require', 'verify-ca', 'verify-full']) {
      expect([mode, await with_(mode, own), await with_(mode, other)]).to.deep.equal([mode, 'tls', 'denied'])
      expect([mode, await with_(mode, `${own}.missing`)]).to.deep.equal([mode, 'settings'])
    }
  })

  it('verifies the name of the host only with verify-full', async () => {
    const { cert, private: key } = await generate([{ name: 'commonName', value: 'db.example' }], { keyType: 'ec' })
    const root = `${own}.named`
    writeFileSync(root, cert)
    const server = await startServer(['tls'], { certificate: cert, key })
    started.push(server)
    ports.set('of another name', (server.address() as AddressInfo).port)
    const seen = []
    for (const mode of ['require', 'verify-ca', 'verify-full'])
      seen.push(await resultOf(uriOf('of another name', `sslmode=${mode}&sslrootcert=${root}`)))
    expect(seen).to.deep.equal(['tls', 'tls', 'denied'])
  })

  it('takes missing parameters from the variables of libpq', () => {
    expect(tlsSettings('postgres://a/', { PGSSLMODE: 'require', PGSSLROOTCERT: 'ca.pem' })).to.include({
      mode: 'require',
      rootFile: 'ca.pem',
    })
    expect(tlsSettings('postgres://a/?sslmode=disable', { PGSSLMODE: 'require' }).mode).to.equal('disable')
    expect(tlsSettings('postgres://a/?sslrootcert=system', {}).mode).to.equal('verify-full')
  })

  it('refuses modes and parameters of other drivers, and name the valid modes', async () => {
    for (const parameters of [
      'sslmode=no-verify',
      'sslmode=Require',
      'ssl=true',
      'sslmode=require&uselibpqcompat=true',
      'sslmode=require&sslrootcert=system',
    ]) {
      const uri = uriOf('with both', parameters)
      const error = await prepareDatabases({ State__ConnectionString: uri }).catch((caught: CliError) => caught)
      expect([parameters, (error as CliError).code]).to.deep.equal([parameters, 'settings'])
      expect((error as CliError).nextStep).to.contain('disable, allow, prefer, require, verify-ca, verify-full')
    }
  })
})
