import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { anOrder, orderUrl, orderWith, paymentsOf, paymentUrl, post, send } from '@orderflow/chaos/clients/api'
import type { Order } from '@orderflow/order-service/order'
import { samplesIn } from '@orderflow/service-kit/testing'
import { type Addresses, addressAt, entryOf, ofServices } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { localPorts, signalGroup, stopProcess } from '@orderflow/stack/internals'
import { type ApplicationCopy, copyApplication } from '@orderflow/test-kit/stacks'
import { expect } from 'chai'
import { freeOffset } from '../support/checkouts/free-offset.ts'
import { listedOrders, listedPayments } from '../support/web/listed.ts'

/** A copy of the application with its own ports, as on a machine of its own. */
interface Machine extends Pick<Addresses, 'services'> {
  application: ApplicationCopy
  /** Runs a command of `./orderflow`. Returns its output. */
  run: (...args: string[]) => Promise<string>
  env: Record<string, string>
}

async function aMachine(): Promise<Machine> {
  const application = copyApplication()
  const env = { PORT_OFFSET: String(await freeOffset()), STACK: 'local' }
  const ports = localPorts(env)
  return {
    application,
    env,
    services: ofServices(({ name }) => addressAt('localhost', entryOf(ports.services, name))),
    run: async (...args) => {
      const { code, stdout, stderr } = await application.run('./orderflow', args, env)
      if (code !== 0) throw new Error(`./orderflow ${args.join(' ')} failed (${code}):\n${stdout}${stderr}`)
      return stdout
    },
  }
}

describe('a backup that is restored on an empty machine', function () {
  this.bail(true)
  this.timeout(300_000)
  const folder = mkdtempSync(join(tmpdir(), 'orderflow-backup-'))
  const machines: Machine[] = []
  let [lost, restored]: Machine[] = []
  after(async () => {
    for (const { run, application } of machines) {
      await run('down')
      application.remove()
    }
    rmSync(folder, { recursive: true, force: true })
  })

  const start = async () => {
    const machine = await aMachine()
    machines.push(machine)
    return machine
  }
  const place = async (machine: Machine, key: string = randomUUID()) => {
    const { status, body } = await post<Order>(`${orderUrl(machine)}/v1/orders`, anOrder, { 'idempotency-key': key })
    expect(status).to.be.oneOf([200, 201])
    return body.id
  }
  /** Kills a command with its children, as soon as `isTime` returns true for its output. */
  const killedWhen = async (
    isTime: (output: string) => boolean,
    { application, env }: Machine,
    command: string,
  ): Promise<void> => {
    const options = { cwd: application.folder, env: { ...process.env, ...env }, detached: true }
    const killed = spawn('./orderflow', [command, join(folder, 'backup')], options)
    let output = ''
    killed.stdout.on('data', (chunk) => {
      output += chunk
    })
    const watch = setInterval(() => isTime(output) && signalGroup(killed.pid as number, 'SIGKILL'), 5)
    const [, signal] = await once(killed, 'exit')
    clearInterval(watch)
    expect(signal).to.equal('SIGKILL')
  }
  const ordersAt = (machine: Machine, ids: string[]) =>
    Promise.all(ids.map(async (id) => (await send<Order>(`${orderUrl(machine)}/v1/orders/${id}`)).body))

  it('saves all orders before it, also while orders arrive and a backup is killed', async () => {
    lost = await start()
    const machine = lost
    await machine.run('up')
    const paid = await Promise.all(Array.from({ length: 20 }, () => place(machine)))
    for (const id of paid) await orderWith(orderUrl(machine), id, 'Paid')
    const bad = join(folder, 'bad.json')
    writeFileSync(bad, '{"Name": "OrderCreated"')
    await machine.run('publish', '--raw', bad)
    await eventually(async () => (await machine.run('dead-letters')).includes('not-json') || undefined, 'a dead letter')

    let isBusy = true
    const later: string[] = []
    const busy = (async () => {
      while (isBusy) later.push(await place(machine))
    })()
    await killedWhen(() => existsSync(join(folder, 'backup/lock')), machine, 'backup')
    await machine.run('backup', join(folder, 'backup'))
    isBusy = false
    await busy

    // These orders are unpaid at the time of the backup.
    const state = join(machine.application.folder, '.stack')
    await stopProcess(state, 'payment-service', 10_000)
    const unpaid = await Promise.all(Array.from({ length: 5 }, () => place(machine)))
    await machine.run('backup', join(folder, 'backup'))
    known = { before: [...paid, ...later], unpaid, documents: await ordersAt(machine, paid) }
  })

  let known: { before: string[]; unpaid: string[]; documents: Order[] }
  let afterwards: string

  it('restores everything in one command, and rebuilds stores before services start', async () => {
    const machine = lost as Machine
    afterwards = randomUUID()
    await place(machine, afterwards)
    await machine.run('down')
    machine.application.remove()
    machines.length = 0

    restored = await start()
    // Services start only in the second run, which therefore delivers the unpaid orders.
    await killedWhen((output) => output.includes('records restored'), restored, 'restore')
    await restored.run('down')
    const startedAt = Date.now()
    const run = restored.run
    const both = [1, 2].map(() => run('restore', join(folder, 'backup')).catch((error: Error) => error.message))
    const outputs = await Promise.all(both)
    // The other command waits for the stack's lock.
    expect(outputs.filter((output) => output.includes('restored and up'))).to.have.length(1)
    expect(outputs.filter((output) => output.includes('the stack runs'))).to.have.length(1)
    const seconds = ((Date.now() - startedAt) / 1_000).toFixed(1)
    console.log(`${known.before.length + known.unpaid.length} orders: restored and up after ${seconds} s`)
    for (const id of [...known.before, ...known.unpaid]) await orderWith(orderUrl(restored), id, 'Paid')
    expect(
      await ordersAt(
        restored,
        known.documents.map(({ id }) => id),
      ),
    ).to.deep.equal(known.documents)
  })

  it('handles each event once, and knows the order of each payment', async () => {
    const machine = restored as Machine
    const all = [...known.before, ...known.unpaid]
    expect(await listedOrders(machine)).to.have.members(all)
    expect((await listedPayments(machine)).map(({ orderId }) => orderId)).to.have.members(all)
  })

  it('continues at the positions of consumer groups', async () => {
    const { metrics } = entryOf(localPorts((restored as Machine).env).services, 'payment-service')
    const samples = samplesIn(await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text())
    const handled = [...samples].filter(([name]) => name.startsWith('orderflow_events_total{topic="orderevents"'))
    const count = handled.reduce((sum, [, value]) => sum + value, 0)
    expect(count).to.be.within(known.unpaid.length, known.before.length)
  })

  it('accepts an order again that was placed after the backup', async () => {
    const machine = restored as Machine
    const id = await place(machine, afterwards)
    await orderWith(orderUrl(machine), id, 'Paid')
    expect(await paymentsOf(paymentUrl(machine), id)).to.have.length(1)
  })

  it('lists the dead letter, and continues the backup', async () => {
    const machine = restored as Machine
    expect(await machine.run('dead-letters')).to.include('not-json')
    expect(await machine.run('backup', join(folder, 'backup'))).to.include('saved in')
  })
})
