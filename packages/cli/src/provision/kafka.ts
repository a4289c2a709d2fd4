import { readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { kafkaJarsFolder, repository, versions } from '../lib/paths.ts'
import { runTool, withHeartbeat } from '../lib/run-tool.ts'
import { checkHash, hashOf } from './hashes.ts'
import type { Provisioned, ProvisionOptions } from './options.ts'
import { java, maven } from './tools.ts'

const name = `kafka ${versions.kafka}`
const about = `${name}: downloading its jars, 55 MB`

/** Kafka's jars, copied by Maven as packages/cli/kafka/pom.xml lists them. */
export function kafkaTool(): Provisioned {
  return { folder: dirname(kafkaJarsFolder()), about, needs: [java, maven], make: copyCheckedJars }
}

async function copyCheckedJars(folder: string, options: ProvisionOptions): Promise<void> {
  for (const file of await copyJars(folder, options)) checkHash(basename(file), hashOf(file))
}

/** Copies the jars to `libs` in the folder, unchecked, and returns their paths. */
export async function copyJars(folder: string, { onProgress, signal }: ProvisionOptions): Promise<string[]> {
  const pom = join(repository, 'packages/cli/kafka/pom.xml')
  const libs = join(folder, 'libs')
  const output = [`-DincludeScope=runtime`, `-DoutputDirectory=${libs}`]
  const goal = ['dependency:copy-dependencies', `-Dkafka.version=${versions.kafka}`, ...output]
  let downloaded = 0
  const detail = () => `${downloaded} files downloaded`
  await withHeartbeat(name, { onProgress, detail }, async () => {
    const onLine = (line: string) => {
      if (line.includes('Downloaded from')) downloaded += 1
    }
    // Plugins, too, must match the checksums beside them.
    await runTool('mvn', ['-B', '--strict-checksums', '-f', pom, ...goal], { cwd: folder, signal, onLine })
  })
  return readdirSync(libs).map((file) => join(libs, file))
}
