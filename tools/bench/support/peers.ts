import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  CliError,
  go,
  java,
  javaCommand,
  maven,
  npm,
  type Provisioned,
  type ProvisionOptions,
  runTool,
} from '@orderflow/cli'
import { type Build, built, goProgram } from './built.ts'

/** An alternative to payment-service: a folder of tools/bench/compare. */
export interface Peer {
  /** The name of its folder. The name of its consumer group is this name with the suffix `-payments`. */
  name: 'nestjs' | 'watermill' | 'spring-kafka'
  label: string
  tool: Provisioned
  command: [string, ...string[]]
}

export const peers: Peer[] = [
  peer('nestjs', 'NestJS', [npm], buildNestjs, (folder) => [process.execPath, join(folder, 'dist/main.js')]),
  peer('watermill', 'Watermill', [go], goProgram('payments'), (folder) => [join(folder, 'payments')]),
  peer('spring-kafka', 'Spring Kafka', [java, maven], buildSpring, (folder) => [
    javaCommand(),
    '-jar',
    join(folder, 'app/payments.jar'),
  ]),
]

function peer(
  name: Peer['name'],
  label: string,
  needs: Provisioned['needs'],
  build: Build,
  command: (folder: string) => Peer['command'],
): Peer {
  const tool = built(`compare/${name}`, { name: `${name}-payments`, label, needs }, build)
  return { name, label, tool, command: command(tool.folder) }
}

async function buildNestjs(folder: string, { signal }: ProvisionOptions): Promise<void> {
  await runTool('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder, signal })
  await runTool(process.execPath, ['node_modules/typescript/bin/tsc'], { cwd: folder, signal })
}

/** Builds and unpacks the jar as Spring’s guide recommends, and compares the contained jars with the hashes in libs.sha512. */
async function buildSpring(folder: string, { signal }: ProvisionOptions): Promise<void> {
  await runTool('mvn', ['-B', '-q', '--strict-checksums', 'package'], { cwd: folder, signal })
  const extract = ['-Djarmode=tools', '-jar', 'target/payments.jar', 'extract', '--destination', 'app']
  await runTool(javaCommand(), extract, { cwd: folder, signal })
  const lib = join(folder, 'app/lib')
  const sums = await runTool('sha512sum', readdirSync(lib).sort(), { cwd: lib, signal })
  if (sums === readFileSync(join(folder, 'libs.sha512'), 'utf8')) return
  throw new CliError('wrong-hash', `the jars of Spring's program differ from libs.sha512:\n${sums}`, {
    nextStep: 'if you changed a version, write these hashes to tools/bench/compare/spring-kafka/libs.sha512',
  })
}
