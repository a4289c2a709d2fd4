import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, cpSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import { createSidecar, type Sidecar } from '@orderflow/service-kit/operations'
import { eventually, newSecret, repository } from '@orderflow/stack/base'
import { daprdFile, daprdFlags, freeServicePorts } from '@orderflow/stack/internals'

export interface GuardedSidecar extends Sidecar {
  /** Sends an HTTP request with the service's token. */
  http: (path: string, init?: RequestInit) => Promise<{ status: number; body: string }>
  /** Sends bytes to a gRPC method, by default with the service's token. Returns the error's text, or `none`. */
  grpc: (
    method: string,
    request: Uint8Array,
    more?: { port?: number; metadata?: Record<string, string> },
  ) => Promise<string>
  /** The header with the service's token. */
  token: Record<string, string>
  grpcPort: number
  /** The port for other sidecars. */
  internalPort: number
  /** The paths that the sidecar has requested from the service. */
  requested: string[]
  stop: () => Promise<void>
}

/** Starts the sidecar of a service, with the files of `components/` except those of Kafka. The sidecar's service answers 200 to every request. */
export async function startGuardedSidecar(
  folder: string,
  service: string,
  connectionString: string,
): Promise<GuardedSidecar> {
  const resources = join(folder, 'resources')
  rmSync(resources, { recursive: true, force: true })
  mkdirSync(resources, { recursive: true })
  const components = join(repository, 'components')
  cpSync(join(components, 'postgresql'), resources, { recursive: true })
  copyFileSync(join(components, 'secretstore.yaml'), join(resources, 'secretstore.yaml'))
  const requested: string[] = []
  const app = createServer((request, response) => {
    requested.push(request.url ?? '')
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(app, 'listening')
  const ports = { ...(await freeServicePorts()), channel: (app.address() as AddressInfo).port }
  const token = newSecret()
  const authorization = { 'dapr-api-token': token }
  const flags = daprdFlags(service, ports, {
    folders: [resources],
    configuration: join(components, 'configuration.yaml'),
  })
  const log = openSync(join(folder, 'daprd.log'), 'a')
  const daprd: ChildProcess = spawn(
    daprdFile(),
    flags.flatMap(([flag, value]) => [`--${flag}`, value]),
    {
      env: {
        PATH: process.env.PATH,
        DAPR_API_TOKEN: token,
        APP_API_TOKEN: 'app',
        State__ConnectionString: connectionString,
      },
      stdio: ['ignore', log, log],
    },
  )
  const sidecar = createSidecar({
    Sidecar: { Host: '127.0.0.1', HttpPort: ports.daprHttp, GrpcPort: ports.daprGrpc, Token: token },
    Stream: { PubSub: 'none' },
    State: { Store: 'statestore' },
  })
  await eventually(
    () =>
      sidecar.read(['none']).then(
        () => true,
        () => undefined,
      ),
    `the sidecar with the log ${join(folder, 'daprd.log')}`,
  )
  const http: GuardedSidecar['http'] = async (path, init) => {
    const headers = { ...authorization, 'content-type': 'application/json' }
    const response = await fetch(`http://127.0.0.1:${ports.daprHttp}${path}`, { ...init, headers })
    return { status: response.status, body: await response.text() }
  }
  return {
    ...sidecar,
    requested,
    token: authorization,
    grpcPort: ports.daprGrpc,
    internalPort: ports.daprInternalGrpc,
    http,
    grpc: (method, request, { port = ports.daprGrpc, metadata = authorization } = {}) =>
      callOnce(`127.0.0.1:${port}`, method, request, metadata),
    async stop() {
      const ended = once(daprd, 'exit')
      // The kit ends a sidecar in this way, too (docs/adr/0047).
      const { status } = await http('/v1.0/shutdown', { method: 'POST' })
      if (status !== 204) daprd.kill('SIGKILL')
      await ended
      app.close()
      if (status !== 204) throw new Error(`the sidecar answered ${status} to the request to end`)
    },
  }
}

function callOnce(address: string, method: string, request: Uint8Array, headers: Record<string, string>) {
  const client = new Client(address, credentials.createInsecure())
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
  return new Promise<string>((resolve) => {
    client.makeUnaryRequest(
      method,
      (bytes: Buffer) => bytes,
      (bytes) => bytes,
      Buffer.from(request),
      metadata,
      { deadline: Date.now() + 10_000 },
      (error) => {
        client.close()
        resolve(error ? error.message : 'none')
      },
    )
  })
}
