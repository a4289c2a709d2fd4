import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { openIndex } from '../../src/index/monitor-index.ts'

describe('the index of an unreachable log', () => {
  let folder: string
  // The server closes each connection at once.
  const kafka = createServer((socket) => socket.destroy())
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'monitor-index-'))
    kafka.listen(0, '127.0.0.1')
    await once(kafka, 'listening')
  })
  after(() => {
    kafka.close()
    rmSync(folder, { recursive: true })
  })

  it('reports the reason and still answers queries', async () => {
    const troubles: (string | null)[] = []
    const { port } = kafka.address() as { port: number }
    const heard = Promise.withResolvers<void>()
    const index = openIndex(
      {
        kafka: { bootstrapBrokers: [`127.0.0.1:${port}`] },
        trust: {
          File: '../../components/trust/trust.json',
          Publishers: '../../components/trust/publishers.json',
          SigningKeys: '',
          SignedSince: '',
        },
        root: new URL('../..', import.meta.url).href,
        application: { reactions: [], topics: [], services: {} },
        folder,
        segmentEvents: 1_000,
        keepEvents: 10_000,
        keepMs: 1_000,
      },
      {
        onFailure: heard.reject,
        onPartition() {},
        onTrouble(reason) {
          troubles.push(reason)
          heard.resolve()
        },
      },
    )
    await index.start()
    try {
      await heard.promise
      expect(troubles).to.have.length(1)
      expect(troubles[0]).to.be.a('string').and.not.be.empty
      expect(index.completeness()).to.include({ isConnected: false, indexLag: null, kept: 0 })
    } finally {
      await index.close()
    }
  })
})
