import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { expect } from 'chai'

const program = fileURLToPath(new URL('../../src/mocha/run-tests.ts', import.meta.url))

describe('npm test', () => {
  let folder = ''
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const sourceWith = (value: number) => `export const value: number = ${value}\n`
  const testWith = (value: number) =>
    `import { value } from '../src/value.ts'\nit('a value', () => { if (value !== ${value}) throw new Error('not ' + value) })\n`

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'orderflow-npm-test-'))
    write('package.json', '{ "type": "module" }')
    write('src/value.ts', sourceWith(1))
    write('test/value.unit.test.ts', testWith(1))
    write('test/other.unit.test.ts', "it('another test', () => {})\nit('a third test', () => {})\n")
    write('test/process.int.test.ts', "it('a test with processes', () => {})\n")
    write('node_modules/part/test/part.unit.test.ts', "it('a test of a package', () => {})\n")
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  function run(...args: string[]): { status: number | null; passed: string[]; stderr: string } {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
      cwd: folder,
      encoding: 'utf8',
    })
    // The output has colours if this test has colours.
    const plain = stripVTControlCharacters(stdout)
    return { status, passed: [...plain.matchAll(/✔ (.*?)(?: \(\d+ms\))?$/gm)].map(([, title = '']) => title), stderr }
  }

  it('runs all unit tests', () => {
    const { status, passed } = run()
    expect({ status, passed }).to.deep.equal({ status: 0, passed: ['a value', 'another test', 'a third test'] })
  })

  it('passes options on to Mocha, also before and between texts', () => {
    expect(run('--fgrep', 'third').passed).to.deep.equal(['a third test'])
    expect(run('--fgrep', 'a', 'process.int', '--bail', 'value').passed).to.deep.equal([
      'a value',
      'a test with processes',
    ])
  })

  it('fails with the next step if a text selects no file', () => {
    expect(run('vlaue')).to.deep.equal({
      status: 1,
      passed: [],
      stderr:
        'error: no path of a test file contains vlaue\nnext: check the name; similar files are:\n  test/value.unit.test.ts\n',
    })
  })

  it('fails if no test has the title', () => {
    expect(run('--fgrep', 'missing')).to.include({ status: 1 })
  })

  it('runs the tests again after a change of a source file and of a test file with --watch', async () => {
    const watching = spawn(process.execPath, ['--watch', program, '--no-parallel', 'value'], { cwd: folder })
    let output = ''
    watching.stdout.on('data', (chunk: Buffer) => {
      output += stripVTControlCharacters(chunk.toString())
    })
    const ended = async (marks: string[]) => {
      while (marks.some((mark) => !output.includes(mark))) await new Promise((resolve) => setTimeout(resolve, 50))
      output = ''
    }
    try {
      await ended(['1 passing', 'Completed running'])
      write('src/value.ts', sourceWith(2))
      await ended(['not 2', '1 failing', 'Failed running'])
      write('test/value.unit.test.ts', testWith(2))
      await ended(['1 passing', 'Completed running'])
    } finally {
      watching.kill()
    }
  })
})
