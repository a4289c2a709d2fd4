import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { type Disk, mountDisk, unmountBelow } from '../../src/testing/disks.ts'

/** A program that writes some thousand pages of 4 KiB a second, one after the other. */
const writing = `
  const { openSync, writeSync } = require('node:fs')
  const file = openSync(process.argv[1], 'w')
  const page = Buffer.alloc(4 * 1024)
  const step = () => {
    try { writeSync(file, page) } catch {}
    setImmediate(step)
  }
  step()
  console.log('writing')
`

describe('mountDisk', () => {
  let folder: string
  let disk: Disk
  let writer: ChildProcess

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'disks-'))
    disk = await mountDisk(join(folder, 'disk'))
    writer = spawn(process.execPath, ['-e', writing, join(disk.path, 'written')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(writer.stdout as NodeJS.ReadableStream, 'data')
  })

  after(async () => {
    writer?.kill('SIGKILL')
    if (writer) await once(writer, 'exit')
    unmountBelow(folder)
    rmSync(folder, { recursive: true })
  })

  it('fills a disk to the last byte while another program writes, and frees the space again', async () => {
    for (let round = 0; round < 15; round += 1) {
      await disk.fill()
      expect((await statfs(disk.path)).bfree).to.equal(0)
      await disk.relieve()
      expect((await statfs(disk.path)).bfree).to.be.greaterThan(1_000)
    }
  })
})
