/**
 * `npm test -- [TEXT...] [OPTION...]` runs the test files whose path contains a TEXT, or all unit tests. Mocha gets the options, for example `--fgrep TITLE`.
 * A TEXT selects tests of other kinds only if it contains the kind, such as `.int`.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { SelectionError, selectTests, testFiles } from './test-files.ts'

/** Mocha's options that have a value. Without this list, the value would be a TEXT. */
const withValue = {
  fgrep: 'f',
  file: '',
  grep: 'g',
  ignore: '',
  jobs: 'j',
  reporter: 'R',
  'reporter-option': 'O',
  require: 'r',
  retries: '',
  slow: 's',
  timeout: 't',
}

/** The number of files from which on parallel processes take less time than one process. */
const leastForParallel = 30

function argumentsOfMocha(args: string[]): string[] {
  const options = Object.fromEntries(
    Object.entries(withValue).map(([name, short]) => [name, { type: 'string' as const, ...(short && { short }) }]),
  )
  const parsed = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true })
  const { positionals, tokens, values } = parsed
  const texts = new Set(tokens.filter(({ kind }) => kind === 'positional').map(({ index }) => index))
  const others = args.filter((_, index) => !texts.has(index))
  const { files, areUnits } = selectTests(testFiles('.'), positionals)
  // Other kinds may share ports and downloads. With a filter of titles, processes would only load files.
  const inParallel = areUnits && !('grep' in values || 'fgrep' in values) && files.length >= leastForParallel
  // An unknown title is an error, like an unknown text. In parallel, Mocha would refuse each file whose tests have other titles.
  const mode = inParallel ? ['--parallel', `--jobs=${availableParallelism() + 1}`] : ['--fail-zero']
  return [...mode, ...others, ...files]
}

try {
  process.argv = [...process.argv.slice(0, 2), ...argumentsOfMocha(process.argv.slice(2))]
  // In this process, because `node --watch` only watches files of its own child.
  await import(import.meta.resolve('mocha/bin/mocha.js'))
} catch (error) {
  if (!(error instanceof SelectionError)) throw error
  console.error(`error: ${error.message}\nnext: ${error.nextStep}`)
  process.exitCode = 1
}
