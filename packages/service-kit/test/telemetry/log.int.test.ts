import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { type Disk, mountDisk, unmountBelow } from '../../src/testing/disks.ts'

const program = fileURLToPath(new URL('../support/logging-program.ts', import.meta.url))

describe('a log on a full disk', () => {
  let folder: string
  let file: string
  let disk: Disk
  let running: ChildProcess
  let ended: Promise<unknown[]>
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'full-log-'))
    file = join(folder, 'service.log')
    disk = await mountDisk(folder)
    const log = openSync(file, 'a')
    running = fork(program, { stdio: ['ignore', log, 'inherit', 'ipc'] })
    closeSync(log)
    ended = once(running, 'exit')
  })
  afterEach(() => {
    running.kill('SIGKILL')
    unmountBelow(folder)
    rmSync(folder, { recursive: true })
  })

  async function log(text: string): Promise<void> {
    running.send(text)
    const [answer] = await Promise.race([once(running, 'message'), ended])
    expect(answer).to.equal(text)
  }

  it('lets the service continue, and reports the number of lost lines when there is space again', async () => {
    await log('before')
    await disk.fill()
    // The first lines still fit into the last page of the file. The last of these lines fits only in part.
    for (let number = 0; number < 100; number += 1) await log(`${number} ${'.'.repeat(100)}`)
    await disk.relieve()
    await log('after')
    const lines = readFileSync(file, 'utf8').split('\n')
    const read = lines.flatMap((line) => {
      try {
        return [JSON.parse(line).msg as string]
      } catch {
        return []
      }
    })
    const whole = read.filter((msg) => msg.endsWith('.')).length
    expect(read.at(0)).to.equal('before')
    expect(read.slice(-2)).to.deep.equal([
      `${100 - whole} lines of this log are lost: ENOSPC: no space left on device, write`,
      'after',
    ])
    // At most two lines are not JSON: the incomplete line, and the empty text after the last line.
    expect(lines.length - read.length).to.be.at.most(2)
    expect(whole).to.be.below(100)
  })

  it('lets the service end normally', async () => {
    await log('before')
    await disk.fill()
    for (let number = 0; number < 100; number += 1) await log(`${number} ${'.'.repeat(100)}`)
    running.disconnect()
    expect(await ended).to.deep.equal([0, null])
  })
})
