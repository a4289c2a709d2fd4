import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** testssl.sh of PATH, which Debian calls `testssl`. */
export function findTestssl(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean)
  const candidates = folders.flatMap((folder) => ['testssl', 'testssl.sh'].map((name) => join(folder, name)))
  return candidates.find((candidate) => existsSync(candidate))
}
