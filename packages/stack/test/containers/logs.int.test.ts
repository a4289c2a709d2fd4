import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect } from 'chai'
import { repository } from '../../src/application/paths.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

const script = `
import { inContainers } from ${JSON.stringify(join(repository, 'packages/stack/src/containers/in-containers.ts'))}
const interrupted = new AbortController()
process.once('SIGINT', () => interrupted.abort())
await inContainers.logs(['kafka'], { follow: true, signal: interrupted.signal }).catch(({ code, message }) => {
  console.error(code + ': ' + message)
  process.exitCode = 1
})
`

function start(docker: string) {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'docker'), `#!/bin/bash\n${docker}`)
  chmodSync(join(folder, 'docker'), 0o755)
  const env = { PATH: `${folder}${delimiter}${process.env.PATH}` }
  return spawn(process.execPath, ['--input-type=module', '-e', script], { env })
}

/** A script that prints until its output is closed, and then fails like `docker compose`. */
const endless = "trap '' PIPE; while echo kafka-1 2>/dev/null; do sleep 0.05; done; exit 255"

describe('make logs of containers', () => {
  afterEach(removeFolders)

  it('stops without an error when its output is closed', async () => {
    const child = start(endless)
    await once(child.stdout, 'data')
    child.stdout.destroy()
    expect(await once(child, 'close')).to.deep.equal([0, null])
  })

  it('stops without an error at Ctrl-C', async () => {
    const child = start(`trap 'exit 130' INT; ${endless}`)
    await once(child.stdout, 'data')
    child.kill('SIGINT')
    expect(await once(child, 'close')).to.deep.equal([0, null])
  })

  it('reports an error if `docker compose` fails', async () => {
    const child = start('exit 1')
    child.stdout.resume()
    const [[code], [text]] = await Promise.all([once(child, 'close'), once(child.stderr, 'data')])
    expect(code).to.equal(1)
    expect(String(text)).to.equal('compose-failed: docker compose logs ended with 1\n')
  })
})
