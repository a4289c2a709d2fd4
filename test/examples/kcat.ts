import { chmodSync, globSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { runTool } from '@orderflow/stack/base'
import { canAptGet } from '@orderflow/stack/internals'
import type { Example } from './example.ts'

/**
 * Returns the shell example. If kcat is missing and the tests run as root on Debian, installs kcat.
 * @param pythonPackages the folder of a newer librdkafka, for a kcat that is too old for Kafka 4
 */
export async function kcatExample(folder: string, pythonPackages: string): Promise<Example> {
  const printed = (command = 'kcat') => runTool(command, ['-V'], { cwd: folder }).catch(() => undefined)
  if ((await printed()) === undefined) {
    if (!canAptGet()) throw new Error('needs kcat: apt-get install kcat, or brew install kcat')
    await runTool('apt-get', ['update', '-q'], { cwd: '/' })
    await runTool('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'kcat'], { cwd: '/' })
  }
  const example: Example = { language: 'kcat', folder, publish: (file) => [join(folder, 'publish.sh'), file] }
  const [, major = 0, minor = 0] = /librdkafka (\d+)\.(\d+)/.exec((await printed()) ?? '') ?? []
  if (Number(major) > 2 || (Number(major) === 2 && Number(minor) > 6)) return example
  const [library] = globSync(join(pythonPackages, 'confluent_kafka.libs/librdkafka-*'))
  const bin = mkdtempSync(join(tmpdir(), 'kcat-'))
  writeFileSync(join(bin, 'kcat'), `#!/bin/sh\nLD_PRELOAD='${library}' exec /usr/bin/kcat "$@"\n`)
  chmodSync(join(bin, 'kcat'), 0o755)
  return { ...example, env: { PATH: [bin, process.env.PATH].join(delimiter) } }
}
