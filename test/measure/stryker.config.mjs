import { join } from 'node:path'
import { cacheFolder } from '@orderflow/stack/base'
// Stryker’s own process and its children need this hook.
import './mocha-12.ts'
import { parts } from './parts.ts'

const { MUTATED_PART: name = '' } = process.env
const { mutate, tests, others = [] } = parts[name]
const hook = ['--import', new URL('mocha-12.ts', import.meta.url).href]
const reports = `reports/mutation/${name}`

export default {
  mutate,
  plugins: ['@stryker-mutator/mocha-runner'],
  testRunner: 'mocha',
  testRunnerNodeArgs: hook,
  checkerNodeArgs: hook,
  // Stryker has its own time limits, and its Mocha finds no packages of this repository.
  mochaOptions: { spec: [tests], ignore: others, ui: 'bdd' },
  coverageAnalysis: 'perTest',
  ignorePatterns: ['/.stack', '/.release', '/reports', '/bench/results'],
  // The sandbox links the packages of the workspace. All other packages are found in parent folders.
  symlinkNodeModules: false,
  buildCommand: String.raw`sh -c mkdir\ node_modules\ &&\ cp\ -R\ ../../node_modules/@orderflow\ node_modules/`,
  // There is no compilation, because Node strips the types.
  tsconfigFile: 'none',
  disableTypeChecks: false,
  incremental: true,
  incrementalFile: join(cacheFolder(), 'mutation', `${name}.json`),
  reporters: ['progress-append-only', 'clear-text', 'html', 'json'],
  clearTextReporter: { reportTests: false, allowColor: false },
  htmlReporter: { fileName: `${reports}.html` },
  jsonReporter: { fileName: `${reports}.json` },
  concurrency: 1,
  thresholds: { high: 95, low: 85, break: 85 },
}
