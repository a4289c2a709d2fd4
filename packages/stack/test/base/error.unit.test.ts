import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { reportError } from '../../src/base/error.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

describe('reportError', () => {
  afterEach(removeFolders)

  /** Returns the lines that the report of a failure prints. */
  function linesOf(failure: unknown): string[] {
    const { exitCode } = process
    const write = process.stderr.write
    let printed = ''
    process.stderr.write = (text: string | Uint8Array) => {
      printed += text
      return true
    }
    try {
      reportError(failure)
    } finally {
      process.stderr.write = write
      process.exitCode = exitCode
    }
    return printed.trim().split('\n')
  }
  const failureOf = (work: () => unknown): unknown => {
    try {
      work()
    } catch (error) {
      return error
    }
    return undefined
  }

  it('names the path if the system refuses a file', () => {
    const file = join(temporaryFolder(), 'file')
    writeFileSync(file, '')
    for (const refused of [() => mkdirSync(join(file, 'folder')), () => writeFileSync(join(file, '..'), '')]) {
      const [error, next] = linesOf(failureOf(refused))
      expect(error).to.match(/^error: the system refuses a file: (ENOTDIR|EISDIR)/)
      expect(next).to.match(/^next: correct or remove it/)
    }
  })

  it('names the owner’s rights if another user started the stack', () => {
    const refusal = Object.assign(new Error('kill EPERM'), { code: 'EPERM', syscall: 'kill' })
    expect(linesOf(refusal)).to.deep.equal([
      'error: a process of the stack belongs to another user',
      'next: run this as the user who started the stack',
    ])
    const denial = { code: 'EACCES', syscall: 'open', path: '/stack/run/lock' }
    expect(linesOf(Object.assign(new Error('EACCES: permission denied'), denial))[1]).to.equal(
      'next: run this as a user who may write there (ls -ld /stack/run/lock)',
    )
  })

  it('names a program that is missing', () => {
    const [error] = linesOf(spawnSync('orderflow-missing').error)
    expect(error).to.equal('error: orderflow-missing cannot be started: ENOENT')
  })

  it('throws other errors, because their stack trace shows a defect', () => {
    expect(() => reportError(new TypeError('x is not a function'))).to.throw(TypeError)
  })
})
