import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildServiceImages, CliError, operatorUser, reportError, repository, runTool } from '@orderflow/cli'
import { createClients } from './clients.ts'
import { startServers } from './servers.ts'

// `kind.ts VALUES` starts Kafka and PostgreSQL in the current cluster of kind. It writes the values of the chart to the file VALUES, and prints
// the variables for `make up STACK=kubernetes` as commands of a shell.

const [valuesFile = ''] = process.argv.slice(2)
const onProgress = (line: string) => console.error(line)
const folder = mkdtempSync(join(tmpdir(), 'orderflow-kind-'))

try {
  await main()
} catch (error) {
  reportError(error)
} finally {
  rmSync(folder, { recursive: true })
}

async function main(): Promise<void> {
  const kubeconfig = process.env.KUBECONFIG ?? join(homedir(), '.kube/config')
  const clients = createClients(folder, kubeconfig, 'kubectl')
  const context = (await clients.kubectl('config', 'current-context')).trim()
  const [, name] = /^kind-(.+)$/.exec(context) ?? []
  if (!name) {
    throw new CliError('usage', `the context ${context} is not a cluster of kind`, { nextStep: 'kind create cluster' })
  }
  await buildServiceImages(onProgress)
  const loadImages = async (names: string[]) => {
    // No registry has our own images. The nodes pull all others.
    const own = names.filter((image) => image.startsWith('localhost/'))
    await runTool('kind', ['load', 'docker-image', '--name', name, ...own], { cwd: repository })
  }
  const servers = await startServers({ ...clients, loadImages }, 'postgresql')
  const kafka = { brokers: servers.brokers, ca: { name: 'kafka-ca' } }
  // JSON is valid YAML.
  writeFileSync(valuesFile, JSON.stringify({ store: servers.storeKind, kafka }))
  const variables = {
    Stream__SaslUsername: operatorUser,
    Stream__SaslPassword: servers.passwords[operatorUser],
    Stream__CaCert: servers.certificate,
    State__ConnectionString: servers.storeUri,
  }
  for (const [variable, value] of Object.entries(variables)) console.log(`export ${variable}='${value}'`)
}
