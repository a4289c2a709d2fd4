import { parseArgs } from 'node:util'
import { reportError, timed } from '@orderflow/cli'
import { startCluster, stopCluster } from './cluster.ts'
import { strimziHashes } from './definitions.ts'
import { programFile, writeHashes } from './programs.ts'

// `main.ts up [--dapr] [--keda] [--policies]` starts a cluster that continues after this command, `main.ts down` stops it. `main.ts hashes` writes
// hashes.json.

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { dapr: { type: 'boolean' }, keda: { type: 'boolean' }, policies: { type: 'boolean' } },
})
const [command] = positionals
const onProgress = timed()

try {
  if (command === 'up') await up()
  else if (command === 'down') onProgress((await stopCluster()) ? 'cluster: stopped' : 'cluster: not running')
  else if (command === 'hashes') await writeHashes(await strimziHashes())
  else throw new Error(`unknown command ${command}`)
} catch (error) {
  reportError(error)
}

async function up(): Promise<void> {
  const { dapr = false, keda = false, policies: networkPolicies = false } = values
  const { kubeconfig } = await startCluster({ dapr, keda, networkPolicies, isDetached: true, onProgress })
  const lines = [
    `export KUBECONFIG=${kubeconfig}`,
    `kubectl: ${programFile('hyperkube', 'kubectl')}`,
    `helm: ${programFile('helm')}`,
  ]
  console.log(lines.join('\n'))
}
