import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor'
import type { InstalledPackage } from './consumer.ts'

const reportFile = (name: string) => join(import.meta.dirname, 'signatures', `${name}.md`)

/**
 * Compares the public signatures with the committed reports.
 * @param options.accept replaces the committed reports
 * @returns the differences of each changed package
 */
export function signatureChanges(
  consumer: string,
  packages: InstalledPackage[],
  options: { accept: boolean },
): string[] {
  return packages.flatMap((each) => {
    const [committed, found] = [reportFile(each.name), join(consumer, `${each.name}.md`)]
    writeFileSync(options.accept ? committed : found, signatureReport(consumer, each))
    if (options.accept) return []
    const compare = ['diff', '--no-index', '--no-color', committed, found]
    const { status, stdout, stderr } = spawnSync('git', compare, { encoding: 'utf8' })
    return status === 0 ? [] : [stdout || stderr]
  })
}

/**
 * Describes the public signatures of all entry points of a package.
 * @param consumer the folder of a program that has installed the package
 */
function signatureReport(consumer: string, { name, folder, manifest }: InstalledPackage): string {
  // API Extractor leaves out relative imports of files below node_modules, so it reads a copy.
  const copy = join(consumer, name)
  cpSync(folder, copy, { recursive: true, verbatimSymlinks: true })
  const entries = Object.entries(manifest.exports).map(([entry, { types }]) => ({
    title: join(manifest.name, entry),
    config: extractorConfig(consumer, copy, types),
  }))
  const [first, ...others] = entries.map(({ config }) => config)
  if (!first) throw new Error(`${manifest.name} has no entry points`)
  const additionalEntryPoints = others.map(({ mainEntryPointFilePath }) => mainEntryPointFilePath)
  const compilerState = CompilerState.create(first, { additionalEntryPoints })
  const reports = entries.map(({ title, config }) => {
    const messageCallback = (message: { handled: boolean }) => {
      message.handled = true
    }
    Extractor.invoke(config, { compilerState, localBuild: true, messageCallback })
    return `## ${title}\n\n${signaturesIn(readFileSync(config.reportFilePath, 'utf8'))}`
  })
  return `# Public signatures of ${manifest.name}\n\n${reports.join('\n')}`
}

/** Returns the code of a report. Leaves out comments on the documentation, because they are no part of a signature. */
function signaturesIn(report: string): string {
  const code = report.slice(report.indexOf('```ts'))
  return code
    .replaceAll(/^ *\/\/ \((undocumented|No @packageDocumentation).*\n|^\/\/ @public.*\n/gm, '')
    .replaceAll(/\n{3,}/g, '\n\n')
    .replace('```ts\n\n', '```ts\n')
    .replace(/\n+```\n+$/, '\n```\n')
}

function extractorConfig(consumer: string, folder: string, declarations: string): ExtractorConfig {
  const silent = { default: { logLevel: ExtractorLogLevel.None } }
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(folder, 'package.json'),
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath: join(folder, declarations),
      newlineKind: 'lf',
      compiler: { tsconfigFilePath: join(consumer, 'tsconfig.json') },
      apiReport: {
        enabled: true,
        reportFileName: 'signatures',
        reportFolder: folder,
        reportTempFolder: join(folder, 'temp'),
        // Signatures also use types that the entry point does not export.
        includeForgottenExports: true,
      },
      messages: { extractorMessageReporting: silent, tsdocMessageReporting: silent, compilerMessageReporting: silent },
    },
  })
}
