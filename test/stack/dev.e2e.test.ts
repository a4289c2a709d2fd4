import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { anOrder, orderUrl, orderWith, paymentsOf, paymentUrl, post } from '@orderflow/chaos/clients/api'
import type { Order } from '@orderflow/order-service/order'
import { samplesIn } from '@orderflow/service-kit/testing'
import { entryOf, type RunningStack } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import {
  claimFolder,
  createPlan,
  localPorts,
  processState,
  runningStack,
  signalGroup,
} from '@orderflow/stack/internals'
import { expect } from 'chai'
import { orderflowFailed } from '../specs/operations/commands.ts'
import { type LocalCheckout, localCheckout } from '../support/checkouts/local-checkout.ts'
import { attachTo } from '../support/programs/inspector.ts'

const service = 'payment-service'
/** The usual time after which the sidecar repeats a delivery (components/resiliency.yaml). */
const handlerMs = 60_000

describe('make dev', () => {
  let checkout: LocalCheckout
  let folder: string
  let stack: RunningStack
  let dev: ChildProcessByStdio<null, Readable, Readable>
  let printed = ''
  before(async () => {
    checkout = await localCheckout('dev')
    folder = join(checkout.folder, '.stack')
    // The started processes outlive `make dev`, but must end with this process.
    await claimFolder(folder)
  })
  after(async () => {
    if (dev?.exitCode === null) signalGroup(groupOf(dev), 'SIGKILL')
    await checkout?.remove()
  })

  const fileOf = (path: string) => join(checkout.folder, service, 'src', path)
  const prints = (text: string) =>
    eventually(() => {
      if (dev.exitCode !== null) throw new Error(printed)
      return printed.includes(text)
    }, `the line ${text}`)
  /** Forgets the lines that are printed so far, changes a file, and waits for a line. */
  async function change(path: string, text: string, line: string): Promise<void> {
    printed = ''
    writeFileSync(fileOf(path), text)
    await prints(line)
  }
  const pidOf = (name: string) => {
    const state = processState(folder, name)
    if (state.state === 'running') return state.pid
    throw new Error(`${name} does not run`)
  }
  const placeOrder = async () => (await post<Order>(`${orderUrl(stack)}/v1/orders`, anOrder)).body.id
  /** Waits until the order is paid. Asks order-service, because payment-service may be restarting. */
  const policyOf = async (orderId: string) => (await orderWith(orderUrl(stack), orderId, 'Paid')).payment?.policy
  const log = (name: string) => readFileSync(join(folder, 'logs', `${name}.log`), 'utf8')

  for (const [args, env, message] of [
    [['nobody'], {}, 'unknown service nobody\nnext: SERVICE is one of order-service'],
    [[], { STACK: 'docker' }, 'make dev runs the stack as processes, but STACK=docker\nnext: leave STACK out'],
  ] as const) {
    it(`refuses ${args[0] ?? 'a stack in containers'}, and names the next step`, async () => {
      expect(orderflowFailed(await checkout.orderflow(['dev', ...args], env))).to.contain(`error: ${message}`)
    })
  }

  it('starts the stack with an inspector in the named service', async () => {
    const offset = checkout.ports.kafka - localPorts({}).kafka
    const env = { ...process.env, PORT_OFFSET: String(offset), NODE_COMPILE_CACHE: join(folder, 'compile-cache') }
    // A process group of its own, so that the tests can send Ctrl-C to all of its processes, as a terminal does.
    dev = spawn('./orderflow', ['dev', service, '--inspect'], {
      ...{ cwd: checkout.folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
    })
    for (const output of [dev.stdout, dev.stderr]) {
      output.setEncoding('utf8').on('data', (chunk: string) => {
        printed += chunk
      })
    }
    await prints(`watching ${service}`)
    expect(printed).to.contain(`a debugger can attach to 127.0.0.1:${checkout.ports.inspectors[service]}`)
    stack = runningStack(await createPlan(folder, checkout.ports), true)
  })

  it('refuses to run twice', async () => {
    expect(orderflowFailed(await checkout.orderflow(['dev']))).to.match(
      /^error: make dev already runs \(process \d+\)\nnext: end it with Ctrl-C/m,
    )
  })

  it('delivers an event once, although a debugger stops its handler for longer than a delivery may take', async () => {
    const inspector = await attachTo(entryOf(checkout.ports.inspectors, service))
    await inspector.send('Debugger.enable')
    const lines = readFileSync(fileOf('payment.ts'), 'utf8').split('\n')
    const lineNumber = lines.findIndex((line) => line.includes('const flaw = amountFlaw'))
    const url = pathToFileURL(fileOf('payment.ts')).href
    const { breakpointId } = (await inspector.send('Debugger.setBreakpointByUrl', { url, lineNumber })) as {
      breakpointId: string
    }
    const paused = inspector.next('Debugger.paused')
    const orderId = await placeOrder()
    expect(await paused).to.deep.include({ hitBreakpoints: [breakpointId] })
    await delay(handlerMs + 2_000)
    await inspector.send('Debugger.resume')
    inspector.close()

    expect(await policyOf(orderId)).to.equal('amount-limit@1')
    expect(await paymentsOf(paymentUrl(stack), orderId)).to.have.length(1)
    const { metrics } = entryOf(checkout.ports.services, service)
    const samples = samplesIn(await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text())
    const count = (outcome: string) => samples.get(`orderflow_events_total{topic="orderevents",outcome="${outcome}"}`)
    expect(['handled', 'duplicate', 'retried', 'dead-letter'].map(count)).to.deep.equal([1, 0, 0, 0])
    expect(samples.get('orderflow_delivery_size_events_count{topic="orderevents"}')).to.equal(1)
    for (const name of [service, 'payment-sidecar']) {
      expect(log(name), name).not.to.match(/time-?d? ?out|deadline exceeded|retr(y|ied)|delivered again/i)
    }
  })

  it('checks types only after a change of a source, although the stack writes files', async () => {
    await prints('Found 0 errors.')
    printed = ''
    await placeOrder()
    await delay(3_000)
    expect(printed).not.to.contain('Found')
  })

  it('handles the next event with the changed code, and keeps the sidecar', async () => {
    const before = [pidOf(service), pidOf('payment-sidecar')]
    const text = readFileSync(fileOf('policy.ts'), 'utf8')
    const savedAt = performance.now()
    const restarted = change('policy.ts', text.replace('amount-limit@1', 'amount-limit@2'), 'restarted in')
    // Without a pause between the orders, unlike `eventually`, because the time is measured.
    let policy: string | undefined
    while (policy !== 'amount-limit@2') policy = await policyOf(await placeOrder())
    console.log(`    new code has handled an event ${((performance.now() - savedAt) / 1000).toFixed(1)} s after saving`)
    await restarted
    expect(printed).to.match(/payment-service: restarted in \d+\.\d s/)
    const after = [pidOf(service), pidOf('payment-sidecar')]
    expect([after[0] === before[0], after[1]]).to.deep.equal([false, before[1]])
  })

  it('shows a syntax error, continues, and starts the service again after the correction', async () => {
    const text = readFileSync(fileOf('policy.ts'), 'utf8')
    await change('policy.ts', `${text}const (\n`, `${service}: ended (exit code 1)`)
    expect(printed).to.match(/payment-service \| SyntaxError .*Unexpected token/)
    await prints(`types           | ${service}/src/policy.ts(${text.split('\n').length},7): error TS`)
    const waiting = placeOrder()
    await change('policy.ts', text, `${service}: restarted in`)
    expect(await policyOf(await waiting)).to.equal('amount-limit@2')
  })

  it('starts a killed service again', async () => {
    printed = ''
    process.kill(pidOf(service), 'SIGKILL')
    await prints(`${service}: ended (killed by signal 9), starting it again`)
    await prints(`${service}: restarted in`)
  })

  it('ends with Ctrl-C, and names the parts that still run', async () => {
    const closed = once(dev, 'close')
    signalGroup(groupOf(dev), 'SIGINT')
    expect(await closed).to.deep.equal([0, null])
    expect(printed).to.match(/make dev has ended\. These parts still run: .*kafka/)
    expect(printed).to.contain('next: make down stops them, and make up restarts the services without inspectors')
    expect(await checkout.parts()).to.include.keys('kafka', service, 'payment-sidecar')
  })
})

/** Returns the process group of a program that was started with `detached`. */
function groupOf({ pid }: { pid?: number | undefined }): number {
  if (pid === undefined) throw new Error('the program did not start')
  return pid
}
