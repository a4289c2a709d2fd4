import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { repository } from '@orderflow/stack/base'
import { expect } from 'chai'

const testTargets = ['acceptance', ...targetsOf('test-')]

describe('the targets of tools/Makefile that run tests', () => {
  it('run each test with processes at least once', () => {
    const run = new Set(testTargets.flatMap(filesOf))
    const all = globSync('{test,tools,packages,*-service}/**/*.{int,e2e,acceptance}.test.ts', { cwd: repository })
    expect(all.filter((file) => !file.includes('node_modules') && !run.has(file))).to.deep.equal([])
  })

  // Mocha runs a file twice if it is named and also matches a pattern. It leaves out a file that two patterns match.
  it('name no file that a pattern of the same command matches', () => {
    const repeated = testTargets.flatMap(runsOf).flatMap(({ patterns, exclude }) => {
      const [named, globs] = [true, false].map((isNamed) => patterns.filter((each) => /[*{]/.test(each) !== isNamed))
      const matched = new Set(globSync(globs ?? [], { cwd: repository, exclude }))
      return (named ?? []).filter((file) => matched.has(file))
    })
    expect(repeated).to.deep.equal([])
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
  runsOf(target).flatMap(({ patterns, exclude }) => globSync(patterns, { cwd: repository, exclude }))

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
