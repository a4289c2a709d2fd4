import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { create, toBinary } from '@bufbuild/protobuf'
import commonProto from '@dapr/dapr/proto/dapr/proto/common/v1/common_pb.js'
import daprProto from '@dapr/dapr/proto/dapr/proto/runtime/v1/dapr_pb.js'
import { inDatabase } from '@orderflow/stack'
import { testFolder } from '@orderflow/stack/base'
import { claimFolder, freeServicePorts, releaseFolder, startPostgresql } from '@orderflow/stack/internals'
import { provision } from '@orderflow/stack/machine'
import { expect } from 'chai'
import { Client } from 'pg'
import { type GuardedSidecar, startGuardedSidecar } from './guarded-sidecar.ts'

const folder = testFolder('sidecar-rights')
const dapr = '/dapr.proto.runtime.v1.Dapr'
/** The answer of a sidecar to a call of an API that its configuration does not list. */
const notOffered = '12 UNIMPLEMENTED: Not Implemented'
const etag = '00000000-0000-4000-8000-000000000001'

describe('a service that attackers control, with its sidecar and PostgreSQL', () => {
  let server: Awaited<ReturnType<typeof startPostgresql>>
  let order: GuardedSidecar
  let payment: GuardedSidecar

  before(async function () {
    // The first build of the programs takes minutes.
    this.timeout(0)
    await provision({ onProgress: () => {}, store: 'postgresql' })
    await claimFolder(folder)
    const databases = ['order-service', 'payment-service']
    server = await startPostgresql(folder, (await freeServicePorts()).http, databases)
    const start = (service: string) => {
      const own = join(folder, service)
      mkdirSync(own, { recursive: true })
      return startGuardedSidecar(own, service, server.sidecarUri(service))
    }
    ;[order, payment] = await Promise.all([start('order-service'), start('payment-service')])
  })
  after(async () => {
    await Promise.all([order?.stop(), payment?.stop()])
    await releaseFolder(folder)
  })

  /** Runs SQL through the binding. Returns the error, or `none`. */
  const runsSql = (sql: string) => {
    const binding = { name: 'statestore-save', operation: 'exec', metadata: { sql } }
    const request = create(daprProto.InvokeBindingRequestSchema, binding)
    return order.grpc(`${dapr}/InvokeBinding`, toBinary(daprProto.InvokeBindingRequestSchema, request))
  }

  it('reads and writes its documents, with the credentials that components read from the secret store', async () => {
    expect(await order.store()).to.deep.equal({ type: 'state.postgresql', choosesEtags: true })
    await order.save([{ key: 'a', value: '1', guard: 'absent' }], etag)
    await payment.save([{ key: 'a', value: '2', guard: 'absent' }], etag)
    await order.transact([{ key: 'b', value: '3' }])
    expect([...(await order.read(['a', 'b']))].map(([key, { value }]) => [key, value])).to.have.deep.members([
      ['a', 1],
      ['b', 3],
    ])
  })

  it('reads the metadata of its sidecar, which contain no secret', async () => {
    const { status, body } = await order.http('/v1.0/metadata')
    expect(status).to.equal(200)
    expect(body)
      .to.contain('statestore-save')
      .and.not.match(/postgres:|password/)
  })

  it('publishes: the only obstacle in this test is the missing component', async () => {
    const answer = await order.grpc(`${dapr}/BulkPublishEventAlpha1`, new Uint8Array())
    expect(answer).to.match(/pubsub/)
  })

  it('cannot read secrets over HTTP', async () => {
    for (const path of [
      'env-secrets/State__ConnectionString',
      'env-secrets/bulk',
      'kubernetes/order-service-secrets',
    ]) {
      const { status, body } = await order.http(`/v1.0/secrets/${path}`)
      expect([status, body.includes('postgres')], path).to.deep.equal([404, false])
    }
  })

  it('cannot read secrets over gRPC', async () => {
    const secret = { storeName: 'env-secrets', key: 'State__ConnectionString' }
    const one = toBinary(daprProto.GetSecretRequestSchema, create(daprProto.GetSecretRequestSchema, secret))
    const all = toBinary(daprProto.GetBulkSecretRequestSchema, create(daprProto.GetBulkSecretRequestSchema, secret))
    expect(await order.grpc(`${dapr}/GetSecret`, one)).to.equal(notOffered)
    expect(await order.grpc(`${dapr}/GetBulkSecret`, all)).to.equal(notOffered)
  })

  const refusedPaths: [method: string, path: string][] = [
    ['GET', '/v1.0/state/statestore/a'],
    ['POST', '/v1.0/bindings/statestore-save'],
    ['POST', '/v1.0/publish/pubsub/orderevents'],
    ['POST', '/v1.0-alpha1/publish/bulk/pubsub/orderevents'],
    ['GET', '/v1.0/invoke/payment-service/method/subscriptions/orderevents'],
    ['GET', '/v1.0/invoke/http://127.0.0.1:1/method/a'],
    ['GET', '/v1.0/configuration/statestore'],
    ['PUT', '/v1.0/actors/a/b/method/c'],
    ['POST', '/v1.0-alpha1/lock/statestore'],
    ['POST', '/v1.0-alpha1/jobs/a'],
    ['POST', '/v1.0-beta1/workflows/dapr/a/start'],
    ['POST', '/v1.0-alpha1/state/statestore/query'],
    ['GET', '/no-api'],
  ]
  for (const [method, path] of refusedPaths) {
    it(`cannot call ${method} ${path}`, async () => {
      const { status } = await order.http(path, { method, ...(method === 'GET' ? {} : { body: '{}' }) })
      expect(status).to.equal(404)
    })
  }

  for (const name of [
    'InvokeService',
    'PublishEvent',
    'SubscribeTopicEventsAlpha1',
    'QueryStateAlpha1',
    'GetConfiguration',
    'InvokeActor',
    'TryLockAlpha1',
    'ScheduleJobAlpha1',
    'StartWorkflowBeta1',
    'SubtleGetKeyAlpha1',
    'ConverseAlpha2',
    'Shutdown',
  ]) {
    it(`cannot call ${name} over gRPC`, async () => {
      expect(await order.grpc(`${dapr}/${name}`, new Uint8Array())).to.equal(notOffered)
    })
  }

  it('cannot reach another service through its sidecar', async () => {
    const message = create(commonProto.InvokeRequestSchema, {
      method: 'subscriptions/orderevents',
      httpExtension: { verb: commonProto.HTTPExtension_Verb.POST },
    })
    const bytes = toBinary(commonProto.InvokeRequestSchema, message)
    // An InternalInvokeRequest of Dapr: the version 1 as field 1, and the message as field 3.
    const call = Uint8Array.from([8, 1, 26, bytes.length, ...bytes])
    const known = payment.requested.length
    const internal = '/dapr.proto.internals.v1.ServiceInvocation/CallLocal'
    const refused = await order.grpc(internal, call, { port: payment.internalPort, metadata: {} })
    expect(refused).to.contain('PERMISSION_DENIED')
    const proxied = (port: number) => {
      const metadata = { ...order.token, 'dapr-app-id': 'payment-service' }
      return order.grpc('/any.Service/Method', new Uint8Array(), { port, metadata })
    }
    expect(await proxied(payment.internalPort)).to.contain('PERMISSION_DENIED')
    expect(await proxied(order.grpcPort)).to.not.equal('none')
    expect(payment.requested.slice(known)).to.deep.equal([])
  })

  const refusedSql: [what: string, sql: string][] = [
    ['its own table', 'SELECT * FROM state'],
    ['changes of its own table', 'DELETE FROM state'],
    ['a new table', 'CREATE TABLE mine (a int)'],
    ['a temporary table', 'CREATE TEMPORARY TABLE mine (a int)'],
    ['a large object', `SELECT lo_from_bytea(0, 'data')`],
    ['a program', `COPY (SELECT 1) TO PROGRAM 'touch /tmp/never'`],
    ['the output of a program', `COPY state FROM PROGRAM 'id'`],
    ['a file', `SELECT pg_read_file('postgresql.conf')`],
    ['the passwords', 'SELECT rolpassword FROM pg_authid'],
    ['the rights of the owner', 'SET ROLE "order-service.store"'],
    ['the rights of all', 'SET ROLE orderflow'],
    ['another user', 'CREATE USER mine'],
    ['more rights', 'ALTER USER "order-service" SUPERUSER'],
    ['another function', 'CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$'],
  ]
  for (const [what, sql] of refusedSql) {
    it(`cannot use the binding for ${what}`, async () => {
      expect(await runsSql(sql)).to.contain('SQLSTATE 42501')
    })
  }

  describe('the connection string of its sidecar', () => {
    const ask = async (uri: string, sql: string) => {
      const client = new Client({ connectionString: uri })
      try {
        await client.connect()
        return (await client.query(sql)).rowCount ?? 0
      } catch (error) {
        return (error as Error).message
      } finally {
        await client.end()
      }
    }
    const asOwner = (sql: string, database = 'order-service') =>
      ask(inDatabase(server.sidecarUri('order-service'), database), sql)

    it('allows the use of the tables of its service', async () => {
      expect(await asOwner(`SELECT FROM state WHERE key = 'order-service||a'`)).to.equal(1)
    })

    it('forbids the databases of other services', async () => {
      expect(await asOwner('SELECT FROM state', 'payment-service')).to.contain('permission denied for database')
    })

    for (const [what, sql] of [
      ['programs', `COPY state FROM PROGRAM 'id'`],
      ['files', `COPY state FROM '/etc/passwd'`],
      ['passwords', 'SELECT rolpassword FROM pg_authid'],
      ['new users', 'CREATE USER mine'],
      ['new databases', 'CREATE DATABASE mine'],
      ['new schemas', 'CREATE SCHEMA mine'],
      ['the rights of another user', 'SET ROLE orderflow'],
    ] as const) {
      it(`forbids the use of ${what}`, async () => {
        expect(await asOwner(sql)).to.match(/permission denied|must be/)
      })
    }

    it('belongs to a user without special rights, who owns the functions that run with the rights of their owner', async () => {
      const rights = 'rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls'
      const admin = (sql: string) => ask(inDatabase(server.uri, 'order-service'), sql)
      expect(await admin(`SELECT FROM pg_roles WHERE rolname LIKE '%-service%' AND (${rights})`)).to.equal(0)
      const definers = 'SELECT FROM pg_proc WHERE prosecdef'
      expect(await admin(`${definers} AND pg_get_userbyid(proowner) = 'order-service.store'`)).to.equal(2)
      expect(await admin(definers)).to.equal(2)
    })
  })
})
