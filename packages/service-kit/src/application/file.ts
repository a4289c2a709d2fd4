import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

// This module does not load the schemas of events, so commands can report that a schema is invalid.

const name = 'services.json'

/** Thrown if services.json is unreadable or invalid. Each text of `problems` states the place in the file, the problem and its fix. */
export class ApplicationError extends Error {
  readonly code = 'application-file'
  readonly problems: readonly string[]
  constructor(file: string, problems: readonly string[]) {
    super(`${file} is invalid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
    this.name = 'ApplicationError'
    this.problems = problems
  }
}

/**
 * Returns the path of the application's services.json: the nearest one in `folder` or above it.
 * @throws {ApplicationError} if none of these folders has the file
 */
export function applicationFile(folder: string): string {
  for (let each = folder; ; each = dirname(each)) {
    const file = join(each, name)
    if (existsSync(file)) return file
    if (each === dirname(each)) throw new ApplicationError(name, [`was not found in ${folder} or above it`])
  }
}
