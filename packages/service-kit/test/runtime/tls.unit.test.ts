import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { expect } from 'chai'
import { generate } from 'selfsigned'
import { type Listener, listen } from '../../src/runtime/process/listener.ts'
import { portOf } from './support/port.ts'

for (const keyType of ['ec', 'rsa'] as const) {
  describe(`the https listener with an ${keyType.toUpperCase()} key`, () => {
    let listener: Listener
    before(async () => {
      const { cert, private: key } = await generate(undefined, { keyType })
      const tls = { cert: Buffer.from(cert), key: Buffer.from(key) }
      const address = { host: '127.0.0.1', port: 0, variable: 'Web__HttpsPort' }
      listener = await listen((_request, response) => response.end(), tls, address)
    })
    after(() => listener.drain())

    /** Connects with these options. Returns the protocol and cipher, such as `TLSv1.3 TLS_AES_128_GCM_SHA256`, or the reason for a failure. */
    function offered(options: ConnectionOptions): Promise<string> {
      return new Promise((resolve) => {
        const port = portOf(listener.server)
        const socket: TLSSocket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options }, () => {
          resolve(`${socket.getProtocol()} ${socket.getCipher().standardName}`)
          socket.destroy()
        })
        socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      })
    }

    it('accepts TLS 1.3 and TLS 1.2, and prefers TLS 1.3', async () => {
      expect(await offered({})).to.equal('TLSv1.3 TLS_AES_128_GCM_SHA256')
      const signature = keyType === 'ec' ? 'ECDSA' : 'RSA'
      expect(await offered({ maxVersion: 'TLSv1.2' })).to.equal(
        `TLSv1.2 TLS_ECDHE_${signature}_WITH_AES_128_GCM_SHA256`,
      )
    })

    it('chooses the cipher by its own order, not by the client’s order', async () => {
      const backwards = 'TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256'
      expect(await offered({ ciphers: backwards })).to.equal('TLSv1.3 TLS_AES_128_GCM_SHA256')
    })

    // With security level 0, the client also offers ciphers that OpenSSL considers too weak.
    for (const version of ['TLSv1', 'TLSv1.1'] as const) {
      it(`refuses the version ${version}`, async () => {
        const old = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT:@SECLEVEL=0' }
        expect(await offered(old)).to.equal('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION')
      })
    }

    for (const cipher of ['AES128-GCM-SHA256', 'ECDHE-RSA-AES128-SHA256', 'ECDHE-ECDSA-AES256-SHA384', 'AES128-SHA']) {
      it(`refuses ${cipher}, which lacks forward secrecy or authenticated encryption`, async () => {
        const weak = { maxVersion: 'TLSv1.2' as const, ciphers: `${cipher}:@SECLEVEL=0` }
        expect(await offered(weak)).to.match(/HANDSHAKE_FAILURE$/)
      })
    }

    it('refuses a client’s renegotiation', async () => {
      const port = portOf(listener.server)
      const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, maxVersion: 'TLSv1.2' })
      await new Promise((resolve) => socket.once('secureConnect', resolve))
      const failure = new Promise((resolve) => socket.once('error', resolve))
      socket.renegotiate({}, () => {})
      expect(await failure).to.have.property('code', 'ERR_SSL_NO_RENEGOTIATION')
    })
  })
}
