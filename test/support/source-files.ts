import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Files of a git repository's folder, relative to it: all but what git ignores. One that was deleted is tracked until that is committed.
 * @param paths which of them, as git understands it; all without
 */
export function sourceFiles(folder: string, ...paths: string[]): string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...paths]
  const files = execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).split('\0')
  return files.filter((file) => file !== '' && existsSync(join(folder, file)))
}
