import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CliError, runTool } from '@orderflow/stack/base'
import { go, java, javaCommand, maven, npm, type Provisioned, type ProvisionOptions } from '@orderflow/stack/internals'
import { type Build, built, goProgram } from './built.ts'

/** An alternative to payment-service: a folder of tools/bench/compare. */
export interface Peer {
  /** The name of its folder. */
  name: 'nestjs' | 'watermill' | 'franz-go' | 'quarkus' | 'spring-kafka'
  label: string
  tool: Provisioned
  command: [string, ...string[]]
}

export const peers: Peer[] = [
  peer('nestjs', 'NestJS', [npm], buildNestjs, (folder) => [process.execPath, join(folder, 'dist/main.js')]),
  peer('watermill', 'Watermill', [go], goProgram('payments'), (folder) => [join(folder, 'payments')]),
  peer('franz-go', 'franz-go', [go], goProgram('payments'), (folder) => [join(folder, 'payments')]),
  peer('quarkus', 'Quarkus', [java, maven], buildQuarkus, (folder) => [
    javaCommand(),
    '-jar',
    join(folder, 'target/quarkus-app/quarkus-run.jar'),
  ]),
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
  const tool = built(`bench/compare/${name}`, { name: `${name}-payments`, label, needs }, build)
  return { name, label, tool, command: command(tool.folder) }
}

async function buildNestjs(folder: string, { signal }: ProvisionOptions): Promise<void> {
  await runTool('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder, signal })
  await runTool(process.execPath, ['node_modules/typescript/bin/tsc'], { cwd: folder, signal })
}

async function buildQuarkus(folder: string, options: ProvisionOptions): Promise<void> {
  await packageJars(folder, options)
  await checkJars(folder, 'target/quarkus-app/lib', options)
}

/** Builds and unpacks the jar as Spring’s guide recommends. */
async function buildSpring(folder: string, options: ProvisionOptions): Promise<void> {
  await packageJars(folder, options)
  const extract = ['-Djarmode=tools', '-jar', 'target/payments.jar', 'extract', '--destination', 'app']
  await runTool(javaCommand(), extract, { cwd: folder, signal: options.signal })
  await checkJars(folder, 'app/lib', options)
}

async function packageJars(folder: string, { signal }: ProvisionOptions): Promise<void> {
  await runTool('mvn', ['-B', '-q', '--strict-checksums', 'package'], { cwd: folder, signal })
}

/** Compares the jars of a program with the hashes in its libs.sha512. */
async function checkJars(folder: string, libs: string, { signal }: ProvisionOptions): Promise<void> {
  const cwd = join(folder, libs)
  const jars = readdirSync(cwd, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.jar'))
  const sums = await runTool('sha512sum', jars.sort(), { cwd, signal })
  if (sums === readFileSync(join(folder, 'libs.sha512'), 'utf8')) return
  throw new CliError('wrong-hash', `the jars in ${cwd} differ from libs.sha512:\n${sums}`, {
    nextStep:
      'if you changed a version, write these hashes to libs.sha512 in the program’s folder of tools/bench/compare',
  })
}
