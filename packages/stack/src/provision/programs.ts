import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { cacheFolder, kafkaJarsFolder, templateFile, versions } from '../application/paths.ts'
import { runTool, withHeartbeat } from '../base/run-tool.ts'
import { buildTime, checkHash, goBuild, goTool, hashOf, type Provisioned, type ProvisionOptions } from './build.ts'
import { go, java, maven, npm } from './tools.ts'

export const daprdModule = `github.com/dapr/dapr@v${versions.dapr}`

/** Returns the Dapr sidecar, built as Dapr's Makefile does, because no package registry has the program. */
export const daprdTool = (): Provisioned =>
  goTool('daprd', versions.dapr, 10, {
    module: daprdModule,
    package: './cmd/daprd',
    flags: ['-tags', 'stablecomponents'],
    variables: { 'github.com/dapr/dapr/pkg/buildinfo.version': versions.dapr },
  })

const kafkaName = `kafka ${versions.kafka}`
const aboutKafka = `${kafkaName}: downloading its jars, 55 MB`

export function kafkaTool(): Provisioned {
  return { folder: dirname(kafkaJarsFolder()), about: aboutKafka, needs: [java, maven], make: copyCheckedJars }
}

async function copyCheckedJars(folder: string, options: ProvisionOptions): Promise<void> {
  for (const file of await copyJars(folder, options)) checkHash(basename(file), hashOf(file))
}

/** Copies Kafka's jars to `libs` and returns their paths. Does not check the hashes of the jars. */
export async function copyJars(folder: string, { onProgress, signal }: ProvisionOptions): Promise<string[]> {
  const pom = templateFile('kafka/pom.xml')
  const libs = join(folder, 'libs')
  const output = [`-DincludeScope=runtime`, `-DoutputDirectory=${libs}`]
  const goal = ['dependency:copy-dependencies', `-Dkafka.version=${versions.kafka}`, ...output]
  let downloaded = 0
  const detail = () => `${downloaded} files downloaded`
  await withHeartbeat(kafkaName, { onProgress, detail }, async () => {
    const onLine = (line: string) => {
      if (line.includes('Downloaded from')) downloaded += 1
    }
    // With this option, Maven also compares its plugins with the repository's checksums.
    await runTool('mvn', ['-B', '--strict-checksums', '-f', pom, ...goal], { cwd: folder, signal, onLine })
  })
  return readdirSync(libs).map((file) => join(libs, file))
}

/** The module of Jaeger 2. Its versions continue those of Jaeger 1, which ended with v1.76.0. */
export const jaegerModule = `github.com/jaegertracing/jaeger@v${versions.jaeger}`

/** Returns Jaeger, built from a Go module without Jaeger's page. The page in packages/stack/templates/traces replaces it. */
export const jaegerTool = (): Provisioned =>
  goTool('jaeger', versions.jaeger, 9, { module: jaegerModule, package: './cmd/jaeger', variables: {} })

export const jaegerFile = (): string => join(jaegerTool().folder, 'jaeger')

/** The module of Prometheus and promtool. Its version 0.315.0 is Prometheus 3.15.0. */
export const prometheusModule = `github.com/prometheus/prometheus@v${versions.prometheus}`
/** The package manager that builds Prometheus' pages. The lock file of the pages is in Prometheus' module. */
export const pnpmPackage = `pnpm@${versions.pnpm}`

/** Prometheus must start in this folder to find its pages. */
export const prometheusFolder = (): string => join(cacheFolder(), `prometheus-${versions.prometheus}`)

export function prometheusTool(): Provisioned {
  const name = `prometheus ${versions.prometheus}`
  return {
    folder: prometheusFolder(),
    about: `Prometheus ${versions.prometheus}: building from source: ${buildTime(4)}`,
    needs: [go, npm],
    async make(folder, options) {
      const program = { name, ...prometheusProgram('prometheus') }
      const source = await goBuild(join(folder, 'prometheus'), program, options)
      const { onProgress } = options
      const detail = () => 'building its pages'
      await withHeartbeat(name, { onProgress, detail }, () => buildPages(source, folder, options))
    },
  }
}

/** Leaves out the service discovery for clouds, which is large. */
export function prometheusProgram(name: 'prometheus' | 'promtool') {
  return {
    module: prometheusModule,
    package: `./cmd/${name}`,
    flags: ['-tags', 'remove_all_sd,enable_dns_sd'],
    variables: { 'github.com/prometheus/common/version.Version': versions.prometheus },
  }
}

const pages = ['lezer-promql', 'codemirror-promql', 'mantine-ui']

async function buildPages(source: string, folder: string, { signal }: ProvisionOptions): Promise<void> {
  const work = join(folder, 'pages')
  // PATH contains both programs, because the scripts call pnpm and node by name.
  const env = { PATH: [join(work, 'bin'), dirname(process.execPath), process.env.PATH].join(delimiter) }
  const run = (command: string, ...args: string[]) => runTool(command, args, { cwd: work, env, signal })
  await runTool('cp', ['-R', join(source, 'web/ui'), work], { cwd: folder, signal })
  // Go's copies of the sources are read-only.
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
