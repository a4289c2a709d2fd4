import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { timeLimit } from '../src/limits.ts'
import { openInspector } from './support/open-inspector.ts'

const program = `
const { channelTimeouts, publicBounds, tlsOptions } = await import('./src/runtime/process/listener.ts')
const timesOf = ({ headersTimeout, requestTimeout, keepAliveTimeout }) => [headersTimeout, requestTimeout, keepAliveTimeout]
console.log(JSON.stringify([...timesOf(channelTimeouts), ...timesOf(publicBounds), tlsOptions.handshakeTimeout]))
`

describe('timeLimit', () => {
  it('returns the usual limit while no debugger can stop the process', () => {
    expect(timeLimit(5_000)).to.equal(5_000)
  })

  describe('with an inspector', () => {
    openInspector()

    it('returns one day', () => {
      expect(timeLimit(5_000)).to.equal(86_400_000)
    })
  })

  it('applies to the listeners of a service that starts with an inspector', async () => {
    const args = ['--inspect=127.0.0.1:0', '--input-type=module', '--eval', program]
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: new URL('..', import.meta.url) })
    expect(JSON.parse(stdout)).to.deep.equal(Array(7).fill(86_400_000))
  })
})
