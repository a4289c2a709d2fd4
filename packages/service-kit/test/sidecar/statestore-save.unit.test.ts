import { randomUUID } from 'node:crypto'
import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import type { Write } from '../../src/sidecar/sidecar.ts'
import { daprServer, type InvokeBindingRequest, statestore } from './dapr-server.ts'

describe('createSidecar with the component statestore-save', () => {
  const tested = daprServer()
  const { handlers, failure, grpcError } = tested

  const calls: [sql: string | undefined, params: unknown][] = []
  let answer: () => unknown
  let server: string
  beforeEach(() => {
    calls.length = 0
    server = '1764410400.1'
    answer = () => ({ metadata: { 'rows-affected': '2' } })
    handlers.GetMetadata = () => ({ registeredComponents: [statestore, { name: 'statestore-save' }] })
    handlers.InvokeBinding = (request) => {
      const { name, operation, metadata } = request as InvokeBindingRequest
      expect(name).to.equal('statestore-save')
      if (operation === 'query') return { data: Buffer.from(JSON.stringify([[server]])) }
      calls.push([metadata.sql, JSON.parse(metadata.params ?? '')])
      return answer()
    }
  })
  const etag = randomUUID()
  const writes: Write[] = [
    { key: 'a', value: '1', guard: { etag: '7' } },
    { key: 'b', value: '2', guard: 'absent' },
    { key: 'c', value: '3' },
  ]

  it('saves all documents with one statement, after one check of the table', async () => {
    answer = () => ({ metadata: { 'rows-affected': '3' } })
    await Promise.all([tested.sidecar.save(writes, etag), tested.sidecar.save(writes, etag, 2)])
    const saved = (needed: number) => [
      'SELECT FROM save_documents($1, $2, $3, $4, $5)',
      [['a', 'b', 'c'], ['1', '2', '3'], ['7', 'absent', ''], needed, etag],
    ]
    expect(calls).to.deep.equal([['SELECT check_state_table()', []], saved(0), saved(2)])
    expect(await tested.sidecar.store()).to.include({ choosesEtags: true })
  })

  it('saves documents only on the required server', async () => {
    answer = () => ({ metadata: { 'rows-affected': '3' } })
    expect(await tested.sidecar.storeServer()).to.equal(server)
    tested.sidecar.requireServer(server)
    await tested.sidecar.save(writes, etag)
    const [sql, params] = calls.at(-1) ?? []
    expect(sql).to.match(/^SELECT FROM save_documents\(.*\) WHERE .*pg_postmaster_start_time.* = \$6$/)
    expect((params as unknown[]).at(-1)).to.equal(server)
    answer = () => ({ metadata: { 'rows-affected': '0' } })
    expect(await failure(tested.sidecar.save(writes, etag))).to.equal('SidecarError conflict')
    server = '1764410500.2'
    expect(await failure(tested.sidecar.save(writes, etag))).to.equal('SidecarError unavailable')
  })

  it('reports a lost race if the statement saved fewer documents, or not the needed documents', async () => {
    expect(await failure(tested.sidecar.save(writes, etag))).to.equal('SidecarError conflict')
    answer = () => {
      throw grpcError(status.INTERNAL, 'ERROR: etag mismatch: a needed document was not saved (SQLSTATE P0001)')
    }
    expect(await failure(tested.sidecar.save(writes, etag, 1))).to.equal('SidecarError conflict')
  })

  it('refuses documents that PostgreSQL cannot store, because further attempts would fail, too', async () => {
    await tested.sidecar.storeFault()
    answer = () => {
      throw grpcError(status.INTERNAL, 'ERROR: invalid byte sequence for encoding "UTF8": 0x00 (SQLSTATE 22021)')
    }
    expect(await failure(tested.sidecar.save(writes, etag))).to.equal('SidecarError refused')
  })

  it('refuses to save in an unknown table, and is unready', async () => {
    handlers.GetBulkState = () => ({ items: [] })
    answer = () => {
      throw grpcError(status.INTERNAL, 'ERROR: unknown version of the table state: it has a column (SQLSTATE P0001)')
    }
    expect(await failure(tested.sidecar.save(writes, etag))).to.equal('SidecarError unavailable')
    expect(await tested.sidecar.storeFault()).to.equal('unknown version of the table state: it has a column')
    expect(calls.map(([sql]) => sql)).to.deep.equal(['SELECT check_state_table()', 'SELECT check_state_table()'])
  })
})
