import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { defaultPorts } from '../../src/application/services.ts'
import { type Brokers, brokerNames } from '../../src/kafka/broker.ts'
import { createPlan, dataFolder, recordStart, serversOf } from '../../src/processes/plan.ts'
import { prepareKafka } from '../../src/processes/servers/kafka.ts'
import { provision } from '../../src/provision/provision.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

await provision({ onProgress: () => {} })

describe('a stack of processes that lost disks', () => {
  let folder: string
  beforeEach(() => {
    folder = temporaryFolder()
  })
  afterEach(removeFolders)

  const logsOf = (broker: string) => join(dataFolder(folder), broker)
  const lose = (broker: string) => rmSync(logsOf(broker), { recursive: true })
  const clusterOf = (broker: string) =>
    /^cluster\.id=(.*)$/m.exec(readFileSync(join(logsOf(broker), 'meta.properties'), 'utf8'))?.[1]

  /** Formats the missing log folders, as `make up` does. Without a number, the stack has as many brokers as at its last start. */
  async function prepare(brokers?: Brokers): Promise<void> {
    const plan = await createPlan(folder, defaultPorts, brokers && { brokers })
    recordStart(plan)
    for (const name of brokerNames(plan)) await prepareKafka(plan, name)
  }
  const failure = () =>
    prepare().then(
      () => undefined,
      (error: unknown) => error,
    )

  for (const broker of brokerNames({ brokers: 3 })) {
    it(`keeps three brokers and their cluster without the log of ${broker}`, async () => {
      await prepare(3)
      const before = clusterOf('kafka-2') ?? clusterOf('kafka')
      lose(broker)
      expect(serversOf(folder).brokers).to.equal(3)
      await prepare()
      expect(brokerNames({ brokers: 3 }).map(clusterOf)).to.deep.equal([before, before, before])
      expect(readFileSync(join(dataFolder(folder), `${broker}.properties`), 'utf8')).to.contain('bootstrap.servers')
    })
  }

  it('never formats an empty log if two of three brokers, or all data, are lost', async () => {
    await prepare(3)
    lose('kafka')
    lose('kafka-3')
    const error = await failure()
    expect(error).to.have.property('code', 'data-lost')
    expect((error as Error).message)
      .to.contain(logsOf('kafka'))
      .and.contain(logsOf('kafka-3'))
    rmSync(dataFolder(folder), { recursive: true })
    expect(await failure()).to.have.property('code', 'data-lost')
    expect(existsSync(logsOf('kafka'))).to.equal(false)
  })

  it('never formats an empty log if the only broker lost its disk, and names the next step', async () => {
    await prepare()
    lose('kafka')
    const error = await failure()
    expect(error).to.have.property('code', 'data-lost')
    expect(error).to.have.property('nextStep').that.contains('./orderflow clean')
    expect(existsSync(logsOf('kafka'))).to.equal(false)
    expect(statSync(join(folder, 'stack.json')).mode & 0o777).to.equal(0o600)
  })

  it('records the cluster of a log that version 0.2.0 formatted', async () => {
    await prepare()
    const before = clusterOf('kafka')
    rmSync(join(folder, 'stack.json'))
    await prepare()
    expect(JSON.parse(readFileSync(join(folder, 'stack.json'), 'utf8')).cluster).to.include({ clusterId: before })
    lose('kafka')
    expect(await failure()).to.have.property('code', 'data-lost')
  })
})
