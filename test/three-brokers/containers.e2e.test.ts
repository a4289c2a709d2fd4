import { brokerNames, docker, eventually } from '@orderflow/cli'
import { openContainer } from '@orderflow/test-kit/containers'
import { expect } from 'chai'
import { describeInContainers } from '../containers/available.ts'
import { type PayingLoad, startPayingLoad } from '../containers/paying-load.ts'
import { type RunningContainers, startCheckout } from '../containers/running-containers.ts'
import { failed, rowOf, succeeded } from '../specs/commands.ts'
import { threeBrokers } from '../specs/three-brokers.ts'

describeInContainers('a stack of containers with three brokers', function () {
  this.bail(true)
  let started: RunningContainers | undefined
  let load: PayingLoad
  before(async function () {
    this.timeout(0)
    started = await startCheckout(3)
    load = startPayingLoad(started, 2)
  })
  after(async () => {
    await started?.stop()
  })
  const stack = () => started as RunningContainers

  threeBrokers(stack, 'containers', {
    async lose(broker) {
      const { project, kill } = stack()
      await load.accepts(4)
      await kill(broker)
      const { id } = await openContainer(project, broker)
      await docker('rm', '--volumes', id)
      await docker('volume', 'rm', `${project}_${broker === 'kafka' ? 'kafka-1' : broker}`)
      await load.accepts(4)
    },
    recover: async () => void succeeded(await stack().make('up')),
  })

  it('lets a broker keep its log if it was killed between the format of this log and the record of it', async () => {
    const { project, kill } = stack()
    const broker = () => openContainer(project, 'kafka-3')
    const run = async (...command: string[]) => (await broker()).exec(command)
    const identity = () => run('cat', '/var/lib/kafka/data/log/meta.properties')
    const before = await identity()
    await run('rm', '/mnt/shared/config/3')
    await kill('kafka-3')
    await (await broker()).start()
    const isRecorded = () =>
      run('test', '-e', '/mnt/shared/config/3').then(
        () => true,
        () => undefined,
      )
    await eventually(isRecorded, 'the record of kafka-3')
    expect(await identity()).to.equal(before)
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
