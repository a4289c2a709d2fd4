import { dirname, join } from 'node:path'
import { withHeartbeat } from '../lib/heartbeat.ts'
import { kafkaJarsFolder, repository, versions } from '../lib/paths.ts'
import { runTool } from '../lib/run-tool.ts'
import type { Provisioned, ProvisionOptions } from './options.ts'
import { java, maven } from './tools.ts'

const name = `kafka ${versions.kafka}`
const about = `${name}: downloading its jars, 55 MB`

/** Kafka's jars, copied by Maven as stack/kafka/pom.xml lists them. */
export function kafkaTool(): Provisioned {
  return { folder: dirname(kafkaJarsFolder()), about, needs: [java, maven], make: copyJars }
}

async function copyJars(folder: string, { onProgress, signal }: ProvisionOptions): Promise<void> {
  const pom = join(repository, 'stack/kafka/pom.xml')
  const output = [`-DincludeScope=runtime`, `-DoutputDirectory=${join(folder, 'libs')}`]
  const goal = ['dependency:copy-dependencies', `-Dkafka.version=${versions.kafka}`, ...output]
  let downloaded = 0
  const detail = () => `${downloaded} files downloaded`
  await withHeartbeat(name, { onProgress, detail }, async () => {
    const onLine = (line: string) => {
      if (line.includes('Downloaded from')) downloaded += 1
    }
    await runTool('mvn', ['-B', '-f', pom, ...goal], { cwd: folder, signal, onLine })
  })
}
