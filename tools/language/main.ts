/**
 * Lists the problems of the repository's texts and commit subjects by the rules of docs/style.md. PATHS lists those of files or folders.
 * Usage: `node tools/language/main.ts [PATHS...]`
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { subjectProblems } from './commits.ts'
import { problemsOf } from './rules.ts'
import { textsOf } from './texts.ts'

const repository = join(import.meta.dirname, '../..')

/** Matches generated files, copies, texts of other authors, and data of tests. */
const omitted =
  /\.gen\.ts$|(^|\/)(?:bundled|fixtures|golden|grafana\/dashboards)\/|package-lock\.json$|^(?:LICENSE|envelope-schema\/asyncapi\.json|packages\/envelope\/schemas\/.*|packages\/stack\/templates\/observe\/dashboard\.json|test\/security\/rules\/.*|docs\/performance\/.*)$/

const paths = process.argv.slice(2)
const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate', '--', ...paths]
const files = execFileSync('git', args, { cwd: repository, encoding: 'utf8', maxBuffer: 2 ** 26 }).split('\0')
const texts = files
  .filter((file) => file && !omitted.test(file) && existsSync(join(repository, file)))
  .flatMap((file) => textsOf(file, readFileSync(join(repository, file), 'utf8')).map((text) => ({ ...text, file })))

const problems = (await problemsOf(texts)).sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line)
for (const { file, line, rule, advice, words } of problems)
  console.log(`${file}:${line} [${rule}] ${advice}\n    ${words}`)
const subjects = paths.length > 0 ? [] : await subjectProblems()
for (const line of subjects) console.error(line)
const count = problems.length + subjects.length
console.log(`language: ${count} problems in ${texts.length} texts and the commit subjects (docs/style.md)`)
process.exitCode = count > 0 ? 1 : 0
