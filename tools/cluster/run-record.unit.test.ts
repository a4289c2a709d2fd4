import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { claimCluster, isCurrent, type RunRecord, readRecord, removeRecord, updateRecord } from './run-record.ts'

describe('claimCluster', () => {
  let cache: string
  let cleaned: RunRecord[]
  const before = process.env.ORDERFLOW_CACHE
  beforeEach(() => {
    cache = mkdtempSync(join(tmpdir(), 'cluster-cache-'))
    process.env.ORDERFLOW_CACHE = cache
    cleaned = []
  })
  afterEach(() => {
    if (before === undefined) delete process.env.ORDERFLOW_CACHE
    else process.env.ORDERFLOW_CACHE = before
    rmSync(cache, { recursive: true })
  })

  const claim = (folder: string, timeoutMs = 0) =>
    claimCluster(folder, {
      timeoutMs,
      onProgress: () => {},
      cleanUp: async (record) => {
        cleaned.push(record)
      },
    })

  it('refuses a second run, and names the process, the folder and the start of the first', async () => {
    const { since } = await claim('/first')
    const refusal = await claim('/second').catch((error: Error) => error)
    expect(refusal).to.include({ code: 'busy' })
    expect((refusal as Error).message).to.contain(`the cluster of process ${process.pid} in /first, since ${since}`)
  })

  it('waits until the first run has ended', async () => {
    await claim('/first')
    setTimeout(removeRecord, 50)
    expect((await claim('/second', 10_000)).folder).to.equal('/second')
  })

  it('removes the remains of a run whose owner has ended', async () => {
    const dead = {
      owner: { pid: 1, startId: 'earlier' },
      folder: '/first',
      since: '2026-11-01T00:00:00.000Z',
      created: [],
    }
    writeFileSync(join(cache, 'cluster.json'), JSON.stringify(dead))
    await claim('/second')
    expect(cleaned).to.deep.equal([dead])
    expect(readRecord()?.folder).to.equal('/second')
  })

  it('keeps a stopped run from changing the record of the next one', async () => {
    const first = await claim('/first')
    removeRecord()
    const second = await claim('/second')
    expect([isCurrent(first), isCurrent(second)]).to.deep.equal([false, true])
    expect(() => updateRecord(first)).to.throw('the cluster was stopped while it started')
    expect(readRecord()).to.deep.equal(second)
  })
})
