import { execFileSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { expect } from 'chai'

const testTargets = ['acceptance', ...targetsOf('test-')]

describe('the targets of tools/Makefile that run tests', () => {
  it('run each test with processes at least once', () => {
    const run = new Set(testTargets.flatMap(filesOf))
    const all = globSync('{test,tools,packages,*-service}/**/*.{int,e2e,acceptance}.test.ts', { cwd: repository })
    expect(all.filter((file) => !file.includes('node_modules') && !run.has(file))).to.deep.equal([])
  })

  // Mocha runs a file twice if two patterns match it, or if it is named and a pattern matches it.
  it('match each file once in a command', () => {
    const repeated = testTargets.flatMap(runsOf).flatMap(({ patterns, exclude }) => {
      const matched = patterns.flatMap((each) =>
        isPattern(each) ? globSync(each, { cwd: repository, exclude }) : each,
      )
      return matched.filter((file, index) => matched.indexOf(file) < index)
    })
    expect(repeated).to.deep.equal([])
  })

  it('name only files that exist', () => {
    const named = testTargets.flatMap(runsOf).flatMap(({ patterns }) => patterns.filter((each) => !isPattern(each)))
    expect(named.filter((file) => !existsSync(join(repository, file)))).to.deep.equal([])
  })
})

function targetsOf(prefix: string): string[] {
  const help = execFileSync('make', ['--no-print-directory', '-C', 'tools', 'help'], {
    cwd: repository,
    encoding: 'utf8',
  })
  return [...help.matchAll(/^make -C tools (\S+)/gm)]
    .map(([, target = '']) => target)
    .filter((each) => each.startsWith(prefix))
}

/** Returns the test files of a target, whatever its variable PART is. */
const filesOf = (target: string): string[] =>
  runsOf(target).flatMap(({ patterns, exclude }) => [
    ...patterns,
    ...globSync(patterns.filter(isPattern), { cwd: repository, exclude }),
  ])

/** Mocha reads a path as the name of a file if it has braces, but no wildcard. */
const isPattern = (path: string): boolean => /[*?]/.test(path)

/** Returns the paths and patterns of files for each run of Mocha by a target. */
function runsOf(target: string): { patterns: string[]; exclude: string[] }[] {
  const printed = execFileSync('make', ['--no-print-directory', '--dry-run', '-C', 'tools', target], {
    cwd: repository,
    encoding: 'utf8',
  })
  const runs = printed
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.includes('bin/mocha'))
  return runs.map((run) => {
    const words = [...run.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
      ([, one, two, three]) => one ?? two ?? three ?? '',
    )
    const all = words.map((word) => word.replaceAll(/\$\{PART:-[^}]*\}/g, '*'))
    const isIgnored = (_: string, index: number) => all[index - 1] === '--ignore'
    const patterns = all.filter((word, index) => word.endsWith('.test.ts') && !isIgnored(word, index))
    return { patterns, exclude: all.filter(isIgnored) }
  })
}
