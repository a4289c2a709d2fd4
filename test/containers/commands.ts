import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { anOrder, orderUrl, orderWith, post, send } from '@orderflow/chaos/clients/api'
import { reduced } from '@orderflow/chaos/clients/envelopes'
import type { Order } from '@orderflow/order-service/domain'
import { eventually, services } from '@orderflow/stack'
import { docker, podOf } from '@orderflow/stack/containers'
import { expect } from 'chai'
import type { Ended } from '../support/operate.ts'
import type { RunningContainers } from './running-containers.ts'

const containers = ['kafka', 'mongo', ...services.flatMap(podOf)]
const logging = containers.filter((name) => !name.endsWith('-pod'))
/** Of make, whatever its recipe ended with. */
const failed = 2

/** What an operator types: what it prints and how it ends. The last tests stop the stack, and remove it. */
export function commands(running: () => RunningContainers): void {
  describe('the commands of an operator', function () {
    this.timeout(120_000)
    let stack: RunningContainers
    before(() => {
      stack = running()
    })

    const succeeded = ({ code, stdout, stderr }: Ended): string => {
      expect(code, stdout + stderr).to.equal(0)
      return stdout
    }
    /** Objects of the engine that belong to the stack. */
    const objects = async (kind: 'container' | 'network' | 'volume') => {
      const all = kind === 'container' ? ['--all'] : []
      const own = `label=com.docker.compose.project=${stack.project}`
      return (await docker(kind, 'ls', '--quiet', ...all, '--filter', own)).split('\n').filter(Boolean)
    }

    it('make status names every container and is content', async () => {
      const printed = succeeded(await stack.make('status'))
      for (const name of containers) expect(printed).to.match(new RegExp(`^${name} +running\\b.* [1-9]`, 'm'))
      expect(printed).to.match(/^setup +exited \(0\)/m)
      expect(printed).not.to.contain('not as it should be')
    })

    it('make demo shows the events of an order until it is paid', async () => {
      const printed = succeeded(await stack.make('demo'))
      for (const told of ['event OrderCreated', 'event PaymentApproved', 'the order is paid']) {
        expect(printed).to.contain(told)
      }
      const [, id = ''] = /order (\S+) is Created/.exec(printed) ?? []
      expect((await orderWith(orderUrl(stack), id, 'Paid')).customerName).to.equal('Ada Lovelace')
    })

    it('make publish is an outside publisher that sends what is valid', async () => {
      const event = reduced()
      expect(succeeded(await publish(event))).to.contain('published to orderevents')
      await orderWith(orderUrl(stack), event.Payload.OrderId, 'Paid')
      const { code, stderr } = await publish(invalid())
      expect(code, stderr).to.equal(failed)
      expect(stderr).to.contain('/Payload/Total')
    })

    it('make logs follows a service, and make dead-letters tells why it did not take an event', async () => {
      const log = followed(stack, 'order-service')
      const printed = succeeded(await publish(invalid(), 'RAW=1'))
      const [, offset] = /offset (\d+)/.exec(printed) ?? []
      await eventually(
        () => log.lines().some((line) => line.includes('dead-lettered') && line.includes(`"${offset}"`)),
        'the line',
      )
      await log.close()
      await eventually(async () => {
        const letters = succeeded(await stack.make('dead-letters'))
        return services.every(({ name }) => letters.includes(name)) && letters.includes('invalid-payload')
      }, 'the dead letters of every service')
    })

    it('make logs shows the end of every log', async () => {
      const printed = succeeded(await stack.make('logs'))
      for (const name of logging) expect(printed).to.match(new RegExp(`^${name}\\b`, 'm'))
    })

    it('make status and make demo say what does not run, and make up mends it', async () => {
      await stack.kill('order-pod')
      const status = await stack.make('status')
      expect(status.code, status.stdout).to.equal(failed)
      expect(status.stdout).to.match(/not as it should be: .*order-pod \(exited \(137\)\)/)
      const demo = await stack.make('demo')
      expect([demo.code, demo.stderr.includes('order-pod')]).to.deep.equal([failed, true])
      const printed = succeeded(await stack.make('up'))
      // They shared the network of the pod that died.
      expect(printed).to.match(/order-(sidecar|service)-1.*: restarted/)
      expect(printed).to.contain(`${orderUrl(stack).replace('127.0.0.1', 'localhost')}/`)
      succeeded(await stack.make('status'))
      succeeded(await stack.make('demo'))
    })

    it('make scale and make clean refuse what they cannot do', async () => {
      const scale = await stack.make('scale', 'SERVICE=nothing-service', 'N=2')
      expect([scale.code, scale.stderr]).to.satisfy(([code, told]: [number, string]) => {
        return code === failed && told.includes('SERVICE is order-service or payment-service, N is 1 to 99')
      })
      const clean = await stack.make('clean')
      expect([clean.code, clean.stderr.includes('make down, then make clean')]).to.deep.equal([failed, true])
    })

    it('make down leaves the data and nothing else, and make up goes on with it', async () => {
      const { body } = await post<Order>(`${orderUrl(stack)}/v1/orders`, anOrder)
      const paid = await orderWith(orderUrl(stack), body.id, 'Paid')
      expect(succeeded(await stack.make('down'))).to.match(/^down$/m)
      expect([await objects('container'), await objects('network')]).to.deep.equal([[], []])
      expect(await objects('volume')).to.have.length(3)
      expect(succeeded(await stack.make('status'))).to.contain('make up')
      expect(succeeded(await stack.make('down'))).to.contain('nothing was running')
      succeeded(await stack.make('up', 'STACK=docker'))
      expect((await send<Order>(`${orderUrl(stack)}/v1/orders/${body.id}`)).body).to.deep.equal(paid)
    })

    it('make clean removes the data of a stopped stack', async () => {
      succeeded(await stack.make('down'))
      expect(succeeded(await stack.make('clean'))).to.contain('removed')
      expect(await objects('volume')).to.deep.equal([])
      expect(succeeded(await stack.make('clean'))).to.contain('nothing to remove')
    })

    const invalid = () => reduced({ Total: 'much' })
    async function publish(event: object, ...variables: string[]): Promise<Ended> {
      writeFileSync(join(stack.checkout.folder, 'event.json'), JSON.stringify(event))
      return stack.make('publish', 'FILE=event.json', ...variables)
    }
  })
}

/** The lines of `make logs` of a service while it goes on, until `close`. */
function followed({ checkout: { folder, env } }: RunningContainers, service: string) {
  const args = ['--no-print-directory', 'logs', `SERVICE=${service}`, 'FOLLOW=1']
  // A group of its own, which is what Ctrl-C ends.
  const child = spawn('make', args, { cwd: folder, env: { ...process.env, ...env }, detached: true })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  return {
    lines: () => printed.split('\n'),
    async close(): Promise<void> {
      process.kill(-(child.pid as number), 'SIGINT')
      await ended
    },
  }
}
