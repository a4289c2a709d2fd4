// Helpers that load nothing of a stack: errors, the terminal, programs, locks, and the folders of the application.

export {
  cacheFolder,
  localFolder,
  programFile,
  repository,
  testFolder,
  versions,
} from './application/paths.ts'
export { reportFailure } from './application/report.ts'
export { newSecret, pemOf } from './base/credentials.ts'
export { attempt, CliError, isObject, objectIn, reportError, succeeds } from './base/error.ts'
export { replaceFile } from './base/files.ts'
export { jsonWithShortLists } from './base/layout.ts'
export { eventually, poll, runInTerminal, runTool, withRetries } from './base/run-tool.ts'
export { paint, print, timed } from './base/terminal.ts'
