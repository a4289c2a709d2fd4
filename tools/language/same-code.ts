/**
 * Compares two commits. Reports files that differ in more than comments and the content of strings.
 * Usage: `node tools/language/same-code.ts BASE HEAD`
 */
import { execFileSync } from 'node:child_process'
import { repository } from './texts/files.ts'
import { isSameCode } from './texts/same-code.ts'

const [base, head] = process.argv.slice(2)
if (!base || !head) {
  console.error('usage: node tools/language/same-code.ts BASE HEAD')
  process.exit(2)
}

const git = (...args: string[]) => execFileSync('git', args, { cwd: repository, encoding: 'utf8', maxBuffer: 2 ** 26 })

const changed = git('diff', '--no-renames', '--name-status', base, head, '--', '*.ts', '*.tsx', '*.js', '*.mjs')
const files = changed
  .split('\n')
  .filter(Boolean)
  .map((line) => line.split('\t') as [string, string])
const different = files.filter(
  ([status, file]) =>
    status !== 'M' || !isSameCode(file, git('show', `${base}:${file}`), git('show', `${head}:${file}`)),
)
for (const [status, file] of different) console.log(`${{ A: 'added', D: 'deleted' }[status] ?? 'different'}: ${file}`)
console.log(`${files.length} files have changed, ${different.length} of them in more than comments and strings`)
process.exitCode = different.length > 0 ? 1 : 0
