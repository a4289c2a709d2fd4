import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { removeLockOfOther } from '../../../src/processes/servers/postgresql.ts'
import { deadPid, removeFolders, temporaryFolder } from '../../support.ts'

describe('removeLockOfOther', () => {
  afterEach(removeFolders)

  it('removes the lock of a killed server if another program has its pid, and leaves other locks to PostgreSQL', () => {
    const data = temporaryFolder()
    const lock = join(data, 'postmaster.pid')
    const isLeftWith = (pid: number) => {
      writeFileSync(lock, `${pid}\n${data}\n1764414000\n`)
      removeLockOfOther(data)
      return existsSync(lock)
    }
    expect([isLeftWith(process.pid), isLeftWith(deadPid())]).to.deep.equal([false, true])
    removeLockOfOther(temporaryFolder())
  })
})
