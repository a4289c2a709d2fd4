import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { createServer, get } from 'node:https'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { writeCertificate } from './rehearsal/certificate-files.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

describe('the certificate of a rehearsal', () => {
  it('works for clients under all its host names, and has files that only their owner can read', async () => {
    const files = await writeCertificate(temporaryFolder(), ['kafka'])
    const both = readFileSync(files.bothFile)
    const server = createServer({ cert: both, key: both }, (_request, response) => response.end()).listen(
      0,
      '127.0.0.1',
    )
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    for (const servername of ['localhost', 'kafka']) {
      const [answer] = await once(get({ port, ca: files.certificate, servername, agent: false, family: 4 }), 'response')
      expect(answer.resume().statusCode).to.equal(200)
    }
    const refused = get({ port, ca: files.certificate, servername: 'other', agent: false, family: 4 })
    expect((await once(refused, 'error'))[0]).to.include({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
    server.close()
    for (const file of [files.bothFile, files.keyFile]) expect(statSync(file).mode & 0o077).to.equal(0)
  })
})
