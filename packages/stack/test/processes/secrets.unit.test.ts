import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, get } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import { services } from '../../src/application/services.ts'
import { localCertificate } from '../../src/base/credentials.ts'
import { stackTokens } from '../../src/processes/plan.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8)

describe('stackTokens, stackPassword and localCertificate', () => {
  afterEach(removeFolders)

  it('creates three different tokens for each service, and later reads them from a file that only its owner can read', () => {
    const folder = temporaryFolder()
    const tokens = stackTokens(folder)
    expect(Object.keys(tokens)).to.deep.equal(services.map(({ name }) => name))
    const all = Object.values(tokens).flatMap(({ app, dapr, dryRun }) => [app, dapr, dryRun])
    expect(new Set(all).size).to.equal(3 * services.length)
    expect(stackTokens(folder)).to.deep.equal(tokens)
    expect(modeOf(join(folder, 'secrets.json'))).to.equal('600')
  })

  it('adds secrets for a new service or purpose, and keeps the existing secrets', () => {
    const folder = temporaryFolder()
    const [first] = services
    const known = { [first?.name ?? '']: { app: 'a', dapr: 'd' } }
    writeFileSync(join(folder, 'secrets.json'), JSON.stringify(known))
    const tokens = stackTokens(folder)
    expect(tokens[first?.name ?? '']).to.include({ app: 'a', dapr: 'd' })
    for (const { dryRun } of Object.values(tokens)) expect(dryRun).to.match(/^[\w-]{32}$/)
    expect(Object.keys(tokens)).to.have.members(services.map(({ name }) => name))
    expect(stackTokens(folder)).to.deep.equal(tokens)
  })

  it('creates a certificate for localhost once, with a key that only its owner can read', async () => {
    const folder = temporaryFolder()
    const files = await localCertificate(folder)
    const first = readFileSync(files.certificate)
    const certificate = new X509Certificate(first)
    for (const host of ['localhost']) expect(certificate.checkHost(host)).to.equal(host)
    for (const address of ['127.0.0.1', '::1']) expect(certificate.checkIP(address)).to.equal(address)
    expect(modeOf(files.key)).to.equal('600')
    await localCertificate(folder)
    expect(readFileSync(files.certificate).equals(first)).to.equal(true)
  })

  it('creates a certificate that works for clients that trust it', async () => {
    const files = await localCertificate(temporaryFolder())
    const [cert, key] = [readFileSync(files.certificate), readFileSync(files.key)]
    const server = createServer({ cert, key }, (_request, response) => response.end('hello')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const [response] = await once(get({ host: 'localhost', port, ca: cert, family: 4, agent: false }), 'response')
    expect(response.statusCode).to.equal(200)
    response.resume()
    server.close()
  })
})
