import type { RequestListener } from 'node:http'
import { expect } from 'chai'
import { type DryRun, NoRecordError, withDryRun } from '../../src/runtime/dry-run/dry-run.ts'
import { capturedLog } from '../../src/testing/captured-log.ts'
import { withServer } from '../../src/testing/http.ts'

const token = 'k'.repeat(32)
const known = { authorization: `Bearer ${token}` }
const none: DryRun = async () => expect.fail('it was tried')
const metrics: RequestListener = ({ url }, response) => response.writeHead(url === '/metrics' ? 200 : 404).end()

describe('POST /dry-run', () => {
  const { log, records } = capturedLog()
  beforeEach(() => records.splice(0))

  async function ask(
    headers: Record<string, string>,
    { dryRun = none, own = token, body = '{"a":1}', path = '/dry-run', method = 'POST' } = {},
  ) {
    return await withServer(withDryRun(metrics, { dryRun, token: own, log }), async (url) => {
      const response = await fetch(url + path, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(method === 'POST' && { body }),
      })
      return { status: response.status, text: await response.text() }
    })
  }

  it('answers with the verdict for a record of 256 KiB', async () => {
    const value = Buffer.alloc(256 * 1024, 'x').toString('base64')
    const dryRun: DryRun = async (record) => ({ result: 'unknown', why: String(JSON.stringify(record).length) })
    const { status, text } = await ask(known, { dryRun, body: JSON.stringify({ value }) })
    expect([status, JSON.parse(text)]).to.deep.equal([
      200,
      { result: 'unknown', why: String(value.length + '{"value":""}'.length) },
    ])
  })

  for (const authorization of [undefined, '', 'Bearer', 'Bearer ', token, `Bearer ${token}x`, 'Bearer xxx']) {
    it(`answers 401 with ${authorization === undefined ? 'no token' : `the header "${authorization}"`}, and does not read the body`, async () => {
      const body = '{'
      const { status, text } = await ask(authorization === undefined ? {} : { authorization }, { body })
      expect([status, text, records]).to.deep.equal([401, '', []])
    })
  }

  it('exists only if the service has reactions and a token for dry runs', async () => {
    expect((await ask({ authorization: 'Bearer ' }, { own: '' })).status).to.equal(404)
    expect(withDryRun(metrics, { dryRun: undefined, token, log })).to.equal(metrics)
  })

  it('passes requests for other paths to the usual listener', async () => {
    const other = (path: string, method: string) => ask({}, { path, method }).then(({ status }) => status)
    expect(await Promise.all([other('/metrics', 'GET'), other('/', 'POST'), other('/dry-run', 'GET')])).to.deep.equal([
      200, 404, 404,
    ])
  })

  it('answers an invalid body with an empty 400 or 413, and does not log the body', async () => {
    const noRecord: DryRun = async () => {
      throw new NoRecordError()
    }
    expect(await ask(known, { body: '{' })).to.deep.equal({ status: 400, text: '' })
    expect(await ask(known, { dryRun: noRecord })).to.deep.equal({ status: 400, text: '' })
    expect(await ask(known, { body: JSON.stringify('x'.repeat(1_100_000)) })).to.deep.equal({ status: 413, text: '' })
    expect(records).to.deep.equal([])
  })

  it('logs the error of a dry run that failed', async () => {
    const broken: DryRun = async () => {
      throw new RangeError('broken')
    }
    expect(await ask(known, { dryRun: broken })).to.deep.equal({ status: 500, text: '' })
    expect(records).to.have.length(1)
    expect(records[0]).to.include({ level: 'error', msg: 'the dry run of a record failed; see err' })
  })
})
