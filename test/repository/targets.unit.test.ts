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
function filesOf(target: string): string[] {
  const printed = execFileSync('make', ['--no-print-directory', '--dry-run', '-C', 'tools', target], {
    cwd: repository,
    encoding: 'utf8',
  })
  const runs = printed
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.includes('bin/mocha'))
  return runs.flatMap((run) => {
    const words = [...run.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
      ([, one, two, three]) => one ?? two ?? three ?? '',
    )
    const patterns = words.map((word) => word.replaceAll(/\$\{PART:-[^}]*\}/g, '*'))
    const isIgnored = (_: string, index: number) => patterns[index - 1] === '--ignore'
    const files = patterns.filter((word, index) => word.endsWith('.test.ts') && !isIgnored(word, index))
    return globSync(files, { cwd: repository, exclude: patterns.filter(isIgnored) })
  })
}
