import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { freePorts } from '../../src/application/free-ports.ts'

const source = fileURLToPath(new URL('../../src/application/free-ports.ts', import.meta.url))

describe('freePorts', () => {
  const children: ChildProcess[] = []
  afterEach(() => {
    for (const child of children.splice(0)) child.kill()
  })

  /** Returns the ports that `freePorts` returns in a new process, which keeps running. All these processes get the same random numbers. */
  async function givenToAnother(): Promise<number[]> {
    const script = `
      let seed = 1
      Math.random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647
      const { freePorts } = await import(process.argv[1])
      console.log(JSON.stringify(await freePorts()))
      process.stdin.resume()`
    const args = ['--input-type=module', '-e', script, source]
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    children.push(child)
    const [printed] = await once(child.stdout, 'data')
    return portsIn(JSON.parse(String(printed)))
  }

  it('reserves ports for one process until it ends', async () => {
    const both = await Promise.all([givenToAnother(), givenToAnother()])
    expect(new Set(both.flat()).size).to.equal(both.flat().length)
    for (const child of children.splice(0)) {
      child.kill()
      await once(child, 'exit')
    }
    expect(both).to.deep.include(await givenToAnother())
  })

  it('returns each port only once, even for simultaneous calls', async () => {
    const both = (await Promise.all([freePorts(), freePorts(), freePorts()])).map(portsIn)
    expect(new Set(both.flat()).size).to.equal(both.flat().length)
  })
})

const portsIn = (ports: object): number[] =>
  Object.values(ports).flatMap((port) => (typeof port === 'object' ? portsIn(port) : [port]))
