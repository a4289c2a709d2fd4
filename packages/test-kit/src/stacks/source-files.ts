import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Returns the files of a git folder, except ignored and deleted ones.
 * @param paths git’s patterns of the paths to include; by default, all paths are included
 */
export function sourceFiles(folder: string, ...paths: string[]): string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...paths]
  const files = execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).split('\0')
  return files.filter((file) => file !== '' && existsSync(join(folder, file)))
}
