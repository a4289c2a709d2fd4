import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { eventually } from '@orderflow/stack/base'
import { docker, images } from '@orderflow/stack/machine'
import { expect } from 'chai'
import { GenericContainer, getContainerRuntimeClient, getReaper, Wait } from 'testcontainers'

export function reaperContract(image: string): void {
  it('removes only the objects that an ended test run has left behind', async () => {
    const [own, other] = [`orderflow-test=${randomUUID()}`, `orderflow-test=${randomUUID()}`]
    // If this process is killed, the reaper of this run removes everything.
    const { sessionId } = await getReaper(await getContainerRuntimeClient())
    const session = `org.testcontainers.session-id=${sessionId}`
    // The tested reaper ends when its test run has ended, and its container is then removed.
    const reaper = await new GenericContainer(image)
      .withBindMounts([{ source: '/var/run/docker.sock', target: '/var/run/docker.sock' }])
      .withEnvironment({ RYUK_RECONNECTION_TIMEOUT: '1s' })
      // The label keeps other test runs on this machine from using the tested reaper.
      .withLabels({ TESTCONTAINERS_RYUK_TEST_LABEL: 'true' })
      .withExposedPorts(8080)
      .withWaitStrategy(Wait.forLogMessage(/.*Started.*/))
      .start()
    const run = connect(reaper.getMappedPort(8080), reaper.getHost())
    try {
      for (const label of [own, other]) {
        const labels = ['--label', label, '--label', session]
        const network = label.replace('=', '-')
        await docker('network', 'create', ...labels, network)
        await docker('volume', 'create', ...labels)
        await docker('create', ...labels, '--network', network, images.node)
      }
      run.write(`label=${own}\r\n`)
      const answer = await new Promise((resolve) => run.once('data', resolve))
      expect(String(answer)).to.equal('ACK\n')
      expect(await count(own)).to.equal(3)
      run.destroy()
      await eventually(async () => (await count(own)) === 0 || undefined, 'all of it is removed')
      expect(await count(other)).to.equal(3)
    } finally {
      run.destroy()
      for (const label of [own, other]) await remove(label)
    }
  })
}

const kinds = { container: ['--all'], network: [], volume: [] }

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
