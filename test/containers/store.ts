import { sidecarUri } from '@orderflow/stack'
import { newSecret, testFolder } from '@orderflow/stack/base'
import { ensureDatabases } from '@orderflow/stack/internals'
import { provision } from '@orderflow/stack/machine'
import { storeServer } from '@orderflow/test-kit/containers'
import { storeContract, type TestedStore } from '../stores/contract.ts'
import { roundTrips } from '../stores/round-trips.ts'
import { appId, startStoreSidecar } from '../stores/store-sidecar.ts'
import type { RunningContainers } from './running-containers.ts'

const folderOf = (name: string) => testFolder(`store-of-containers-${name}`)

export function storeOfContainers(running: () => RunningContainers): void {
  const component = storeServer === 'mongo' ? 'mongodb' : storeServer
  const password = newSecret()
  const operatorUri = () => running().settings.storeUri
  const uri = () => (component === 'postgresql' ? sidecarUri(operatorUri(), appId, password) : operatorUri())
  let tested: TestedStore
  before(async () => {
    await provision({ onProgress: () => {} })
    // MongoDB creates a database automatically.
    if (component === 'postgresql') await ensureDatabases(operatorUri(), { [appId]: password })
    const start = (name: string) => startStoreSidecar(folderOf(name), component, uri())
    tested = { replicas: await Promise.all([start('one'), start('other')]) }
  })
  after(() => Promise.all((tested?.replicas ?? []).map((sidecar) => sidecar.kill('SIGTERM'))))
  storeContract(() => tested)
  roundTrips(folderOf('counted'), component, uri)
}
