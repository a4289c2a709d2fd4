import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Disk, mountDisk, unmountBelow } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import { localCertificate } from '../src/base/credentials.ts'
import { replaceFile } from '../src/base/files.ts'
import { self, withLock } from '../src/base/lock.ts'
import { poll } from '../src/base/run-tool.ts'
import { recordServers } from '../src/containers/project.ts'
import { stackPassword, stackTokens } from '../src/processes/plan.ts'
import { processState, stopProcess, stopStack } from '../src/processes/process/control.ts'
import { stackStatus } from '../src/processes/status.ts'
import { deadPid, removeFolders, startScript, temporaryFolder } from './support.ts'

const forever = 'setInterval(() => {}, 1000)'

describe('the stack on a full disk', () => {
  let folder: string
  let disk: Disk
  beforeEach(async () => {
    folder = temporaryFolder()
    disk = await mountDisk(folder)
  })
  afterEach(async () => {
    await stopStack(folder, () => {})
    unmountBelow(folder)
    removeFolders()
  })

  describe('replaceFile', () => {
    const variables = 'KAFKA_PASSWORD=kept\n'
    const contents = () =>
      Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]))

    for (const [title, write] of [
      ['the secrets of the stack', () => void stackTokens(folder)],
      ['a password', () => void stackPassword(folder, 'postgresql')],
      ['the certificate', () => localCertificate(join(folder, 'certificates')).then(() => {})],
      ['the variables of Docker Compose', () => recordServers({ store: 'postgresql', brokers: 3 }, folder)],
    ] as const) {
      it(`keeps ${title} unchanged on a full disk, names the file, and works again with free space`, async () => {
        writeFileSync(join(folder, '.env'), variables)
        mkdirSync(join(folder, 'certificates'))
        await disk.fill()
        const failure = await Promise.resolve()
          .then(write)
          .catch((error: unknown) => error)
        expect(failure)
          .to.include({ code: 'disk-full' })
          .and.have.property('message')
          .that.contains(`no space left on the disk of ${folder}`)
        expect(readFileSync(join(folder, '.env'), 'utf8')).to.equal(variables)
        expect(readdirSync(folder)).to.have.members(['.env', 'certificates'])
        expect(readdirSync(join(folder, 'certificates'))).to.deep.equal([])
        await disk.relieve()
        await write()
      })
    }

    it('keeps the old content of a file if only a part of the new content fits', async () => {
      const file = join(folder, 'settings.json')
      replaceFile(file, 'old')
      unmountBelow(folder)
      disk = await mountDisk(folder, '16k')
      replaceFile(file, 'old')
      expect(() => replaceFile(file, 'new'.repeat(100_000))).to.throw(`no space left on the disk of ${file}`)
      expect(contents()).to.deep.equal({ 'settings.json': 'old' })
    })
  })

  it('takes a lock, because commands that free space need it', async () => {
    const file = join(folder, 'lock')
    await disk.fill()
    const waits: number[] = []
    const options = { timeoutMs: 5_000, onWait: (pid: number) => waits.push(pid) }
    let inside = 0
    let most = 0
    const one = () =>
      withLock(file, options, async () => {
        inside += 1
        most = Math.max(most, inside)
        await sleep(50)
        inside -= 1
      })
    await Promise.all([one(), one()])
    expect({ most, waits }).to.deep.equal({ most: 1, waits: [process.pid] })
    expect(readdirSync(folder)).to.deep.equal([])
    symlinkSync(JSON.stringify({ ...self(), pid: deadPid() }), file)
    await one()
    expect(readdirSync(folder)).to.deep.equal([])
  })

  it('ends a new process if its record cannot be saved', async () => {
    for (const name of ['run', 'logs']) mkdirSync(join(folder, name))
    await disk.fill()
    const mark = randomUUID()
    expect(() => startScript(folder, 'kafka', `${forever} // ${mark}`)).to.throw('no space left')
    const isLeft = () => spawnSync('pgrep', ['-f', mark]).status === 0
    expect(await poll(() => !isLeft(), { timeoutMs: 5_000 }), 'the process has ended').to.equal(true)
    expect(processState(folder, 'kafka')).to.deep.equal({ state: 'stopped' })
  })

  it('stops the processes of the stack', async () => {
    startScript(folder, 'kafka', forever)
    await disk.fill()
    expect(await stopStack(folder, () => {})).to.deep.equal(['kafka'])
  })

  it('reports in its status that a process ended because the disk was full', async () => {
    startScript(folder, 'kafka', forever)
    mkdirSync(join(folder, 'data'))
    const state = processState(folder, 'kafka')
    await disk.fill()
    if (state.state === 'running') process.kill(-state.group, 'SIGKILL')
    while (processState(folder, 'kafka').state === 'running') await sleep(20)
    expect(stackStatus(folder).find(({ name }) => name === 'kafka')?.detail).to.equal(
      `killed: no space left on the disk of ${join(folder, 'data')}; free some space, then run make up`,
    )
    await stopProcess(folder, 'kafka', 0)
  })
})
