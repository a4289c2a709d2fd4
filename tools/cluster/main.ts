import { parseArgs } from 'node:util'
import { reportError, timed } from '@orderflow/stack/base'
import { startCluster, stopCluster } from './cluster.ts'
import { strimziHashes } from './programs/definitions.ts'
import { writeHashes } from './programs/programs.ts'
import { linesOfCluster, removeExports, shownExportsFile, writeExports } from './trial/exports.ts'
import { provideServers } from './trial/provide-servers.ts'

// `main.ts up [--dapr] [--keda]` starts a cluster that continues after this command, `main.ts down` stops it. `main.ts servers` starts Kafka and
// PostgreSQL in it. `main.ts hashes` writes hashes.json.

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { dapr: { type: 'boolean' }, keda: { type: 'boolean' } },
})
const [command] = positionals
const onProgress = timed()

try {
  if (command === 'up') await up()
  else if (command === 'down') await down()
  else if (command === 'servers') {
    await provideServers({ onProgress })
    showNextStep(`. ${shownExportsFile} && make up STACK=kubernetes`)
  } else if (command === 'hashes') await writeHashes(await strimziHashes())
  else throw new Error(`unknown command ${command}`)
} catch (error) {
  reportError(error)
}

async function up(): Promise<void> {
  const { dapr = false, keda = false } = values
  const { kubeconfig } = await startCluster({ dapr, keda, networkPolicies: true, isDetached: true, onProgress })
  writeExports(linesOfCluster(kubeconfig))
  showNextStep(`. ${shownExportsFile}, which lets this shell use kubectl and helm with the cluster`)
}

async function down(): Promise<void> {
  onProgress((await stopCluster()) ? 'cluster: stopped' : 'cluster: not running')
  removeExports()
}

function showNextStep(step: string): void {
  console.log(`next: ${step}`)
}
