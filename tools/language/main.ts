/**
 * Checks the language of the repository's texts by the rules of docs/style.md.
 * Without arguments it counts problems by rule and folder. PATHS lists the problems of folders or files. `--check` lists all problems, and those
 * in the subjects of commits.
 * Usage: `node tools/language/main.ts [PATHS... | --check]`
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { lintFile, type Problem } from './lint.ts'
import { rules } from './rules/index.ts'
import { wrongSubjects } from './subjects.ts'
import { filesWithTexts, repository } from './texts/files.ts'

const args = process.argv.slice(2)
process.exitCode = args.includes('--check') ? await check() : args.length > 0 ? await list(args) : await overview()

async function check(): Promise<number> {
  const subjects = await wrongSubjects()
  for (const line of subjects) console.error(line)
  return (await list([''], false)) + subjects.length > 0 ? 1 : 0
}

/** Prints the problems below paths and returns 1 if there are any. */
async function list(paths: string[], isCounted = true): Promise<number> {
  const { problems, texts } = await lint(paths)
  for (const { file, line, rule, fix, excerpt } of problems)
    console.log(`${file}:${line} [${rule}] ${fix}\n    ${excerpt}`)
  if (isCounted || problems.length > 0)
    console.log(`problems: ${problems.length} in ${texts} texts; docs/style.md explains the rules`)
  return problems.length > 0 ? 1 : 0
}

async function overview(): Promise<number> {
  const { problems, texts } = await lint([''])
  console.log(`problems: ${problems.length} in ${texts} texts\n`)
  for (const { name } of rules) print(problems.filter(({ rule }) => rule === name).length, name)
  const counts = new Map<string, number>()
  for (const { file } of problems) {
    const folder = file.split('/').slice(0, -1).slice(0, 3).join('/') || file
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  console.log('\nThe folders with most problems (make -C tools language PART=FOLDER lists them):\n')
  for (const [folder, count] of [...counts].sort(([, one], [, other]) => other - one).slice(0, 40)) print(count, folder)
  return 0
}

function print(count: number, name: string): void {
  console.log(`${String(count).padStart(7)}  ${name}`)
}

async function lint(paths: string[]): Promise<{ problems: Problem[]; texts: number }> {
  const prefixes = paths.map((path) => path.replace(/\/+$/, ''))
  const isBelow = (file: string) => prefixes.some((path) => path === '' || file === path || file.startsWith(`${path}/`))
  const results: Awaited<ReturnType<typeof lintFile>>[] = []
  for (const file of filesWithTexts().filter(isBelow)) {
    results.push(await lintFile(file, readFileSync(join(repository, file), 'utf8')))
  }
  return {
    problems: results.flatMap(({ problems }) => problems),
    texts: results.reduce((sum, { texts }) => sum + texts, 0),
  }
}
