import { join } from 'node:path'
import { repository, runTool, testFolder, timed } from '@orderflow/stack/base'
import { claimFolder, freeServicePorts, releaseFolder, startPostgresql } from '@orderflow/stack/internals'
import { ensureImages, images } from '@orderflow/stack/machine'
import { GenericContainer, type StartedTestContainer, Wait } from 'testcontainers'

const folder = testFolder('upstream')
const database = 'upstream'

/** The longest time for all downloads, the build and the tests, in milliseconds. */
const timeoutMs = 30 * 60_000

describe('BulkSet in tools/upstream', function () {
  this.timeout(timeoutMs)
  const onProgress = timed()
  let mongo: StartedTestContainer | undefined

  before(() => claimFolder(folder))
  after(async () => {
    await mongo?.stop()
    await releaseFolder(folder)
  })

  it('passes its Go tests on PostgreSQL', async () => {
    const { uri } = await startPostgresql(folder, (await freeServicePorts()).http, [database])
    const address = new URL(uri)
    address.pathname = database
    await goTest('postgresql', { POSTGRESQL_URI: address.href })
  })

  it('passes its Go tests on MongoDB', async () => {
    for (const { name, standIn } of await ensureImages({ onProgress }, [images.mongo, images.reaper])) {
      if (standIn) onProgress(`warning: ${name} is a stand-in: ${standIn}`)
    }
    mongo = await new GenericContainer(images.mongo)
      .withExposedPorts(27017)
      .withWaitStrategy(Wait.forListeningPorts())
      .start()
    await goTest('mongodb', { MONGODB_HOST: `127.0.0.1:${mongo.getMappedPort(27017)}` })
  })

  async function goTest(store: string, addresses: Record<string, string>): Promise<void> {
    const env = { GOTOOLCHAIN: 'auto', GOWORK: 'off', GOFLAGS: '-mod=readonly', ...addresses }
    const cwd = join(repository, 'tools/upstream')
    await runTool('go', ['test', '-count=1', `./${store}`], { cwd, env, onLine: onProgress })
  }
})
