import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { cacheFolder, versions } from '../lib/paths.ts'
import { runTool, withHeartbeat } from '../lib/run-tool.ts'
import { buildTime, goBuild, goTool } from './go-build.ts'
import { checkHash, hashOf } from './hashes.ts'
import type { Provisioned, ProvisionOptions } from './options.ts'
import { go, npm } from './tools.ts'

/** The module that holds Prometheus and promtool; 0.315.0 is Prometheus 3.15.0. */
export const prometheusModule = `github.com/prometheus/prometheus@v${versions.prometheus}`
/** What its pages are built with; the module holds its lock file. */
export const pnpmPackage = `pnpm@${versions.pnpm}`

const folderOf = (program: string) => join(cacheFolder(), `${program}-${versions.prometheus}`)

/** Where Prometheus is started, for it finds its pages from there. */
export const prometheusFolder = (): string => folderOf('prometheus')
export const promtoolFile = (): string => join(folderOf('promtool'), 'promtool')

/** What scrapes, stores and alerts, with its pages. */
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

/** What checks rules, and tests them. */
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
