import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CliError, repository } from '@orderflow/stack/base'
import type { ProvisionOptions } from '@orderflow/stack/internals'
import { operatorUser } from '@orderflow/stack/operate'
import { brokersIn, defaultNamespace, startServers } from '../servers.ts'
import { exportLine, shownExportsFile, writeExports } from './exports.ts'
import { findCluster } from './running.ts'

/** The values of the chart, which `make up STACK=kubernetes` reads. */
const valuesFile = 'kubernetes.yaml'

/**
 * Starts Kafka and PostgreSQL in the cluster of this checkout or in the current cluster of kind. Writes the values of the chart and the exports of the
 * credentials. Changes nothing of servers that run already.
 * @throws {CliError} `usage` without a cluster, or if the values name another Kafka
 */
export async function provideServers(options: ProvisionOptions): Promise<void> {
  const { onProgress } = options
  const file = join(repository, valuesFile)
  const brokers = brokersIn(defaultNamespace)
  if (existsSync(file) && !readFileSync(file, 'utf8').includes(brokers)) {
    throw new CliError('usage', `${valuesFile} does not name the Kafka of this command, ${brokers}`, {
      nextStep: `move ${valuesFile} to another folder, then run this again`,
    })
  }
  const folder = mkdtempSync(join(tmpdir(), 'orderflow-servers-'))
  try {
    const cluster = await findCluster(folder, options)
    onProgress(`Kafka and PostgreSQL: starting in ${cluster.about}`)
    const { certificate, passwords, storeKind, storeUri } = await startServers(cluster, 'postgresql')
    onProgress('Kafka and PostgreSQL: ready')
    if (cluster.applicationImages.length > 0) {
      await cluster.loadImages([...cluster.applicationImages])
      onProgress('images of the services: loaded')
    }
    if (!existsSync(file)) {
      writeFileSync(file, `store: ${storeKind}\nkafka:\n  brokers: ${brokers}\n  ca: { name: kafka-ca, key: ca.crt }\n`)
    }
    writeExports([
      ...cluster.exports,
      exportLine('Stream__SaslUsername', operatorUser),
      exportLine('Stream__SaslPassword', passwords[operatorUser] ?? ''),
      exportLine('Stream__CaCert', certificate.trim()),
      exportLine('State__ConnectionString', storeUri),
    ])
    onProgress(`${valuesFile} and ${shownExportsFile}: written`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
