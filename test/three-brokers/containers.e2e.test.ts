import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brokerNames } from '@orderflow/stack'
import { docker } from '@orderflow/stack/machine'
import { openContainer } from '@orderflow/test-kit/containers'
import { expect } from 'chai'
import { describeInContainers } from '../containers/available.ts'
import { type PayingLoad, startPayingLoad } from '../containers/load/paying-load.ts'
import { type RunningContainers, startCheckout } from '../containers/running-containers.ts'
import { threeBrokers } from '../specs/faults/three-brokers.ts'
import { failed, rowOf, succeeded } from '../specs/operations/commands.ts'

describeInContainers('a stack of containers with three brokers', function () {
  this.bail(true)
  let started: RunningContainers | undefined
  let load: PayingLoad
  const backup = mkdtempSync(join(tmpdir(), 'orderflow-backup-'))
  before(async function () {
    this.timeout(0)
    started = await startCheckout(3)
    load = startPayingLoad(started, 2)
  })
  after(async () => {
    await started?.stop()
    rmSync(backup, { recursive: true })
  })
  const stack = () => started as RunningContainers

  const run = async (broker: string, ...command: string[]) =>
    (await openContainer(stack().project, broker)).exec(command)
  /** Returns the id of a broker's log, with which controllers know each other. */
  const identity = (broker: string) => run(broker, 'grep', '^directory.id=', '/var/lib/kafka/data/log/meta.properties')
  const lostIdentities = new Map<string, string>()

  threeBrokers(stack, 'containers', {
    async lose(broker) {
      const { project, kill } = stack()
      await load.accepts(4)
      lostIdentities.set(broker, await identity(broker))
      await kill(broker)
      const { id } = await openContainer(project, broker)
      await docker('rm', '--volumes', id)
      await docker('volume', 'rm', `${project}_${broker === 'kafka' ? 'kafka-1' : broker}`)
      await load.accepts(4)
      succeeded(await stack().orderflow(['backup', backup]))
    },
    async recover(broker) {
      succeeded(await stack().make('up'))
      // The controller must not vote with its former identity, because it has lost its votes.
      expect(await identity(broker)).not.to.equal(lostIdentities.get(broker))
    },
  })

  it('lets a broker keep its log if it was killed between the format of this log and the record of it', async () => {
    const { kill, make } = stack()
    const [broker, record] = ['kafka-3', '/mnt/shared/config/3']
    const before = await identity(broker)
    await run(broker, 'rm', record)
    await kill(broker)
    succeeded(await make('up'))
    expect(await identity(broker)).to.equal(before)
    await run(broker, 'test', '-e', record)
  })

  it('lists all brokers in `make status`, and refuses another number of brokers while it has data', async () => {
    const { make } = stack()
    const printed = succeeded(await make('status'))
    for (const name of brokerNames({ brokers: 3 })) expect(printed).to.match(rowOf(name, 'running'))
    expect(failed(await make('up', 'BROKERS=1'))).to.contain('the data of Kafka is from BROKERS=3')
  })

  it('leaves every order of the load paid once', async function () {
    const { orders, retried } = await load.endsPaidOnce()
    if (this.test) this.test.title += ` (${orders} orders, ${retried} requests sent again)`
  })
})
