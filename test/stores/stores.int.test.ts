import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { testFolder } from '@orderflow/stack/base'
import { claimFolder, freeServicePorts, releaseFolder, startPostgresql } from '@orderflow/stack/internals'
import { provision } from '@orderflow/stack/machine'
import { storeContract, type TestedStore } from './contract.ts'
import { roundTrips } from './round-trips.ts'
import { appId, type StoreSidecar, startStoreSidecar } from './store-sidecar.ts'

const folder = testFolder('stores')

/** MongoDB needs containers, so test/stack/testcontainers.e2e.test.ts tests it. */
describe('stores without containers', () => {
  before(async function () {
    // The first build of the programs takes minutes.
    this.timeout(0)
    await provision({ onProgress: () => {}, store: 'postgresql' })
    await claimFolder(folder)
  })
  after(() => releaseFolder(folder))

  for (const store of ['sqlite', 'postgresql'] as const) {
    describe(store, () => {
      let tested: TestedStore
      let connection: string
      before(async () => {
        const own = join(folder, store)
        rmSync(own, { recursive: true, force: true })
        mkdirSync(own, { recursive: true })
        connection = store === 'sqlite' ? join(own, 'store.db') : await startServer()
        const start = (name: string): Promise<StoreSidecar> => startStoreSidecar(join(own, name), store, connection)
        tested = { replicas: await Promise.all([start('one'), start('other')]) }
      })
      after(() => Promise.all((tested?.replicas ?? []).map((sidecar) => sidecar.kill('SIGTERM'))))
      storeContract(() => tested)
      if (store === 'postgresql') roundTrips(join(folder, 'counted'), store, () => connection)
    })
  }

  const startServer = async () =>
    (await startPostgresql(folder, (await freeServicePorts()).http, [appId])).sidecarUri(appId)
})
