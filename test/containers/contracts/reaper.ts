import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { expect } from 'chai'
import { GenericContainer, Wait } from 'testcontainers'
import { docker } from '../../../stack/src/docker/docker.ts'
import { nodeImage, reaperImage } from '../../../stack/src/docker/image-names.ts'
import { eventually } from '../../support/eventually.ts'

export function reaperContract(): void {
  it(`${reaperImage} removes what a test run made, and nothing else, once the run is gone without a word`, async () => {
    const [own, other] = [`orderflow-test=${randomUUID()}`, `orderflow-test=${randomUUID()}`]
    const reaper = await new GenericContainer(reaperImage)
      .withBindMounts([{ source: '/var/run/docker.sock', target: '/var/run/docker.sock' }])
      .withEnvironment({ RYUK_RECONNECTION_TIMEOUT: '1s' })
      // Not for other test runs on this machine to take for theirs.
      .withLabels({ TESTCONTAINERS_RYUK_TEST_LABEL: 'true' })
      .withAutoRemove(false)
      .withExposedPorts(8080)
      .withWaitStrategy(Wait.forLogMessage(/.*Started.*/))
      .start()
    try {
      for (const label of [own, other]) {
        await docker('network', 'create', '--label', label, label.replace('=', '-'))
        await docker('volume', 'create', '--label', label)
        await docker('create', '--label', label, '--network', label.replace('=', '-'), nodeImage)
      }
      const run = connect(reaper.getMappedPort(8080), reaper.getHost())
      run.write(`label=${own}\r\n`)
      const answer = await new Promise((resolve) => run.once('data', resolve))
      expect(String(answer)).to.equal('ACK\n')
      expect(await count(own)).to.equal(3)
      run.destroy()
      await eventually(async () => (await count(own)) === 0 || undefined, 'all of it is removed')
      expect(await count(other)).to.equal(3)
    } finally {
      await reaper.stop()
      await remove(own)
      await remove(other)
    }
  })
}

const kinds = { container: ['--all'], network: [], volume: [] }

/** Names or ids of what carries the label, by kind. */
async function find(label: string): Promise<[kind: string, found: string[]][]> {
  return await Promise.all(
    Object.entries(kinds).map(async ([kind, options]) => {
      const printed = await docker(kind, 'ls', '--quiet', ...options, '--filter', `label=${label}`)
      return [kind, printed.split('\n').filter(Boolean)] as [string, string[]]
    }),
  )
}

async function count(label: string): Promise<number> {
  return (await find(label)).flatMap(([, found]) => found).length
}

async function remove(label: string): Promise<void> {
  for (const [kind, found] of await find(label)) if (found.length > 0) await docker(kind, 'rm', ...found)
}
