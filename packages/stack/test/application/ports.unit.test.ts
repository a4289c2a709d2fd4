import { once } from 'node:events'
import { connect, createServer, type Server } from 'node:net'
import { expect } from 'chai'
import { describeConflict, freePorts, isPortFree, requireFreePorts } from '../../src/application/free-ports.ts'
import {
  defaultPorts,
  localPorts,
  loopbacks,
  type StackPorts,
  services,
  slotsOf,
} from '../../src/application/services.ts'
import { eventually } from '../../src/base/run-tool.ts'

const all = ({ services: ports, moreBrokers, inspectors, ...others }: StackPorts) => [
  ...Object.values(others),
  ...Object.values(inspectors),
  ...Object.values(moreBrokers).flatMap((broker) => Object.values(broker)),
  ...services.flatMap(({ name }) => Object.values(ports[name] ?? {})),
]
/** Three brokers and Jaeger have two ports each, PostgreSQL, Prometheus and the exporter one, and a service with its sidecar and inspector nine. */
const count = 11 + 9 * services.length

describe('localPorts, freePorts and requireFreePorts', () => {
  let server: Server

  const listen = async (host: string) => {
    server = createServer().listen((await freePorts()).kafka, host)
    await once(server, 'listening')
    return (server.address() as { port: number }).port
  }
  afterEach(() => server?.close())

  it('returns different ports for all programs of `make up`', () => {
    expect(new Set(all(defaultPorts)).size).to.equal(count)
  })

  it('adds PORT_OFFSET to all ports of `make up`', () => {
    expect(all(localPorts({}))).to.deep.equal(all(defaultPorts))
    expect(all(localPorts({ PORT_OFFSET: '20000' }))).to.deep.equal(all(defaultPorts).map((port) => port + 20_000))
  })

  it('gives tests ports that no new application uses', async () => {
    const largest = Math.max(...all(localPorts({ PORT_OFFSET: '20000' })))
    for (const port of all(await freePorts())) expect(port).to.be.within(largest + 1, 32_767)
  })

  for (const PORT_OFFSET of ['-1', '1.5', 'many', '50001']) {
    it(`refuses the offset ${PORT_OFFSET} and reports the valid range`, () => {
      expect(() => localPorts({ PORT_OFFSET }))
        .to.throw(`PORT_OFFSET=${PORT_OFFSET}`)
        .with.property('nextStep', 'set PORT_OFFSET to a number from 0 to 50000, such as 10000, for all commands')
    })
  }

  it('returns different and unused ports for a test stack', async () => {
    const ports = all(await freePorts())
    expect(new Set(ports).size).to.equal(count)
    expect(await Promise.all(ports.map(isPortFree))).to.not.include(false)
  })

  for (const host of ['127.0.0.1', '0.0.0.0', '::1']) {
    it(`reports a port as used if a process listens on it at ${host}`, async () => {
      expect(await isPortFree(await listen(host))).to.equal(false)
    })
  }

  for (const host of loopbacks()) {
    it(`reports a port as used if an outgoing connection of ${host} uses it`, async () => {
      const client = connect({ port: await listen(host), host })
      await once(client, 'connect')
      const isFree = await isPortFree(client.localPort ?? 0)
      client.destroy()
      expect(isFree).to.equal(false)
    })
  }

  it('names the process of an outgoing connection that uses a port', async () => {
    const target = await listen('127.0.0.1')
    const told = async () => {
      const client = connect({ port: target, host: '127.0.0.1' })
      await once(client, 'connect')
      const failure = await requireFreePorts([{ port: client.localPort ?? 0, use: 'x' }]).catch((error: Error) => error)
      client.destroy()
      return (failure as Error).message.includes(`is in use by an outgoing connection of pid ${process.pid}`)
    }
    // Sometimes another process has an outgoing connection with the same port, and is reported instead.
    await eventually(told, 'an error that names this process', 5_000)
  })

  it('names all used ports and their processes in one error', async () => {
    const port = await listen('127.0.0.1')
    const uses = [
      { port, use: 'order-service http' },
      { port, use: 'order-sidecar grpc' },
    ]
    const failure = await requireFreePorts(uses).catch((error: Error) => error)
    expect(failure).to.have.property('code', 'port-in-use')
    const [first, second] = (failure as Error).message.split('\n')
    expect(first).to.match(
      new RegExp(`^port ${port} \\(order-service http\\) is in use by pid ${process.pid} \\(.+\\)`),
    )
    expect(second).to.include(`port ${port} (order-sidecar grpc) is in use by pid ${process.pid}`)
  })

  it('names, if AirPlay uses a port, the setting of macOS that stops AirPlay', () => {
    const owner = { pid: 512, listens: true, command: 'ControlCenter' }
    expect(describeConflict({ port: 5000, use: 'order-service http' }, owner)).to.equal(
      'port 5000 (order-service http) is in use by pid 512 (ControlCenter): ' +
        'switch AirPlay Receiver off in System Settings > General > AirDrop & Handoff',
    )
    expect(describeConflict({ port: 5000, use: 'x' }, undefined)).to.equal('port 5000 (x) is in use by another process')
  })
})

describe('slotsOf', () => {
  it('keeps the number of each service when another one was removed', () => {
    expect(slotsOf([3500, 3502, 3503])).to.deep.equal([0, 2, 3])
  })

  it('gives a new service the first free number', () => {
    expect(slotsOf([3500, 3502, undefined, 0, 3503])).to.deep.equal([0, 2, 1, 4, 3])
  })

  it('gives other numbers to services with a copied appsettings.json, or with the ports of another offset', () => {
    expect(slotsOf([3501, 3501, 9999])).to.deep.equal([1, 0, 2])
  })
})
