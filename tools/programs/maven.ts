import { join } from 'node:path'
import { cacheFolder, runTool, versions } from '@orderflow/stack/base'
import {
  checkHash,
  hashOf,
  java,
  maven,
  type Provisioned,
  type ProvisionOptions,
  templateFile,
} from '@orderflow/stack/internals'

/** Copies the jar of an artifact, such as `group:name:1.0`, and returns its path. Does not check the hash of the jar. */
export async function copyArtifact(
  artifact: string,
  folder: string,
  { signal }: Pick<ProvisionOptions, 'signal'>,
): Promise<string> {
  // Uses this pom, because it pins the version of Maven's plugin.
  const pom = templateFile('kafka/pom.xml')
  const copy = [
    `-Dkafka.version=${versions.kafka}`,
    `-Dartifact=${artifact}`,
    `-DoutputDirectory=${folder}`,
    '-Dmdep.stripVersion=true',
  ]
  await runTool('mvn', ['-B', '--strict-checksums', '-f', pom, 'dependency:copy', ...copy], { cwd: folder, signal })
  return join(folder, `${artifact.split(':')[1]}.jar`)
}

/** Returns a folder of the cache with the jars of Maven artifacts. */
export function jars(name: string, about: string, artifacts: readonly string[]): Provisioned {
  return {
    folder: join(cacheFolder(), name),
    about,
    needs: [java, maven],
    async make(folder, options) {
      for (const artifact of artifacts) checkHash(artifact, hashOf(await copyArtifact(artifact, folder, options)))
    },
  }
}
