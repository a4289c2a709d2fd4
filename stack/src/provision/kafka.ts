import { dirname, join } from 'node:path'
import { kafkaJarsFolder, repository, versions } from '../lib/paths.ts'
import { runTool } from '../lib/run-tool.ts'
import type { Provisioned, ProvisionOptions } from './options.ts'
import { java, maven } from './tools.ts'

/** Kafka's jars, copied by Maven as stack/kafka/pom.xml lists them. */
export function kafkaTool(): Provisioned {
  return { folder: dirname(kafkaJarsFolder()), needs: [java, maven], make: copyJars }
}

async function copyJars(folder: string, { onProgress, signal }: ProvisionOptions): Promise<void> {
  onProgress(`kafka ${versions.kafka}: downloading 55 MB of jars`)
  const pom = join(repository, 'stack/kafka/pom.xml')
  const output = [`-DincludeScope=runtime`, `-DoutputDirectory=${join(folder, 'libs')}`]
  const goal = ['dependency:copy-dependencies', `-Dkafka.version=${versions.kafka}`, ...output]
  await runTool('mvn', ['-B', '-q', '-f', pom, ...goal], { cwd: folder, signal })
}
