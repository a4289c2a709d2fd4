import {
  create,
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf'
import commonProto from '@dapr/dapr/proto/dapr/proto/common/v1/common_pb.js'
import daprProto from '@dapr/dapr/proto/dapr/proto/runtime/v1/dapr_pb.js'
import { Client, credentials, logVerbosity, Metadata, type ServiceError, setLogVerbosity, status } from '@grpc/grpc-js'
import { parsedJson } from '../json.ts'
import { isStoppable, timeLimit } from '../limits.ts'
import { remembered } from '../remembered.ts'
import { handled, type Span, traceparentOf } from '../telemetry/context.ts'
import { checkingStatement, type Statement, savingStatement, serverStatement, unknownTable } from './save-documents.ts'
import {
  isRefusal,
  readyTimeoutMs,
  reportsFullDisk,
  reportsTooLarge,
  type Sidecar,
  SidecarError,
  type SidecarFailure,
  type SidecarSettings,
  type StoredDocument,
  sidecarFault,
  type Write,
} from './sidecar.ts'

export type { Sidecar, Write } from './sidecar.ts'

const callTimeoutMs = 10_000
/**
 * The number of keys that Dapr reads at the same time. Dapr's default of 4 is slower for hundreds of keys. For SQLite, this number has no effect,
 * because Dapr reads all keys with one query.
 */
const readParallelism = 16

/**
 * Makes the client reconnect within half a second, because by default grpc-js waits longer before each attempt. By default, it would also send all
 * calls in clear text through a proxy that the environment names for other addresses.
 */
const channelOptions = {
  'grpc.enable_http_proxy': 0,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 500,
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
}

// Dapr returns the duration of a binding call as a header. In `650µs`, the character µ is invalid, so grpc-js would print an error for each fast call.
setLogVerbosity(logVerbosity.NONE)

/**
 * Creates a client of Dapr's gRPC API from the protocol files of Dapr's SDK. The SDK's own client loses partition keys, and reports keys as absent if
 * their bulk read failed (docs/adr/0003).
 */
export function createSidecar(settings: SidecarSettings): Sidecar {
  const { Sidecar: sidecar, Stream: stream, State: state } = settings
  const connect = (more = {}) =>
    new Client(`${sidecar.Host}:${sidecar.GrpcPort}`, credentials.createInsecure(), { ...channelOptions, ...more })
  const lasting = connect()
  const metadata = new Metadata()
  metadata.set('dapr-api-token', sidecar.Token)

  function call<I extends DescMessage, O extends DescMessage>(
    what: string,
    { parent, name, input, output }: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    timeoutMs = callTimeoutMs,
  ): Promise<MessageShape<O>> {
    const path = `/${parent.typeName}/${name}`
    const message = create(input, request) as MessageShape<I>
    const options = { deadline: Date.now() + timeLimit(timeoutMs) }
    const encode = (message: MessageShape<I>) => asBuffer(toBinary(input, message))
    const decode = (bytes: Buffer) => fromBinary(output, bytes)
    const span = callSpan(parent.typeName, name)
    const headers = span ? tracedBy(span, metadata) : metadata
    // The sidecar closes a connection whose client does not answer its pings for 15 s (Dapr 1.18.2, api/grpc/server.go). A call of a process that a
    // debugger stops therefore has its own connection.
    const client = isStoppable() ? connect({ 'grpc.use_local_subchannel_pool': 1 }) : lasting
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(path, encode, decode, message, headers, options, (error, response) => {
        span?.end(error ? status[error.code] : undefined)
        if (client !== lasting) client.close()
        if (error) reject(new SidecarError(what, error, failureOf(error)))
        else resolve(response as MessageShape<O>)
      })
    })
  }

  /** Begins the trace span of a gRPC call (https://opentelemetry.io/docs/specs/semconv/rpc/grpc/). */
  function callSpan(service: string, method: string): Span | undefined {
    const { span, links = [] } = handled() ?? {}
    if (!span) return undefined
    const attributes = {
      'rpc.system': 'grpc',
      'rpc.service': service,
      'rpc.method': method,
      'server.address': sidecar.Host,
      'server.port': sidecar.GrpcPort,
    }
    return span.child(`${service}/${method}`, { kind: 'client', attributes, links })
  }
  const api = daprProto.Dapr.method

  async function read(keys: string[], timeoutMs = callTimeoutMs): Promise<Map<string, StoredDocument>> {
    const request = { storeName: state.Store, keys, parallelism: readParallelism }
    const response = await call('read state', api.getBulkState, request, timeoutMs)
    const found = new Map<string, StoredDocument>()
    for (const item of response.items) {
      if (item.error) throw new SidecarError(`read ${item.key}`, item.error)
      if (item.data.length > 0) found.set(item.key, { value: parse(item.key, item.data), etag: item.etag })
    }
    return found
  }

  const components = async () => (await call('read metadata', api.getMetadata, {})).registeredComponents

  /** The component of components/postgresql/statestore-save.yaml. */
  const savingComponent = `${state.Store}-save`

  const invoke = (what: string, operation: 'exec' | 'query', { sql, params }: Statement) =>
    call(what, api.invokeBinding, { name: savingComponent, operation, metadata: { sql, params } })

  /** Returns true if the sidecar has the component that saves a batch with one statement. Fails if Dapr's table is unknown to this statement. */
  const savesInOneCall = remembered(async () => {
    if (!(await components()).some(({ name }) => name === savingComponent)) return false
    await invoke('check the store', 'exec', checkingStatement)
    return true
  })

  /** The only server of the store that may save documents; undefined for any server. */
  let required: string | undefined

  async function storeServer(): Promise<string | undefined> {
    if (!state.Store || !(await savesInOneCall())) return undefined
    const { data } = await invoke('ask the store', 'query', serverStatement)
    const [[server] = []] = JSON.parse(asBuffer(data).toString()) as [string?][]
    if (server === undefined) throw new SidecarError('ask the store', 'the server does not report its start')
    return server
  }

  const pubsubs = stream.PubSub.split(',')
  /** The index of the component that publishes events. After a failure, the next component is used (docs/adr/0012). */
  let current = 0

  return {
    writeIntervalMs: 20,

    async publish(topic, events) {
      const used = current
      const entries = events.map((event, index) => ({
        entryId: String(index),
        event: event.value,
        contentType: 'application/json',
        metadata: { ...event.headers, ...(event.key !== undefined && { partitionKey: event.key }) },
      }))
      const request = { pubsubName: pubsubs[used] as string, topic, entries, metadata: { rawPayload: 'true' } }
      try {
        const response = await call(`publish to ${topic}`, api.bulkPublishEventAlpha1, request)
        const failed = response.failedEntries[0]
        if (failed) throw new SidecarError(`publish to ${topic}`, failed.error)
      } catch (error) {
        if (!isRefusal(error) && used === current) current = (used + 1) % pubsubs.length
        throw error
      }
    },

    read: (keys) => read(keys),

    async readOne(key) {
      const { data, etag } = await call('read state', api.getState, { storeName: state.Store, key })
      return data.length > 0 ? { value: parse(key, data), etag } : undefined
    },

    async transact(writes) {
      const operations = writes.map((write) => ({ operationType: 'upsert', request: stateItemOf(write) }))
      await call('write state', api.executeStateTransaction, { storeName: state.Store, operations })
    },

    async save(writes, etag, needed = 0) {
      if (!(await savesInOneCall())) {
        await call('save state', api.saveState, { storeName: state.Store, states: writes.map(stateItemOf) })
        return
      }
      const { metadata } = await invoke('save state', 'exec', savingStatement(writes, etag, needed, required))
      const saved = Number(metadata['rows-affected'])
      if (saved === writes.length) return
      if (saved === 0 && required !== undefined && (await storeServer()) !== required)
        throw new SidecarError('save state', 'the server of the store was replaced or started again')
      const changed = `other writers changed ${writes.length - saved} of the documents`
      throw new SidecarError('save state', changed, 'conflict')
    },

    async remove(keys) {
      await call('remove state', api.deleteBulkState, { storeName: state.Store, states: keys.map((key) => ({ key })) })
    },

    async store() {
      const store = (await components()).find(({ name }) => name === state.Store)
      if (!store) throw new SidecarError('read metadata', `the sidecar has no component ${state.Store}`)
      return { type: store.type, choosesEtags: await savesInOneCall() }
    },

    storeServer,

    requireServer(server) {
      required = server
    },

    fault: () => sidecarFault(sidecar),

    async storeFault() {
      if (!state.Store) return undefined
      return await read(['readiness'], readyTimeoutMs)
        .then(savesInOneCall)
        .then(() => undefined, storeFaultOf)
    },
  }
}

/** Makes the sidecar's own span a child of the call's span. */
function tracedBy({ context }: Span, metadata: Metadata): Metadata {
  const traced = metadata.clone()
  traced.set('traceparent', traceparentOf(context))
  return traced
}

function stateItemOf({ key, value, guard }: Write) {
  return {
    key,
    value: Buffer.from(value),
    ...(typeof guard === 'object' && { etag: { value: guard.etag } }),
    ...(guard && { options: { concurrency: commonProto.StateOptions_StateConcurrency.CONCURRENCY_FIRST_WRITE } }),
  }
}

const storeFaultOf = (error: Error): string => unknownTable.exec(error.message)?.[0] ?? 'does not answer'

/** Returns a view of the same bytes, because copying them would cause much garbage collection. */
const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, byteLength)

function parse(key: string, data: Uint8Array): unknown {
  const value = parsedJson(asBuffer(data).toString())
  if (value === undefined) throw new SidecarError(`read ${key}`, 'the document is not JSON')
  return value
}

/** Matches PostgreSQL's errors about data and about its limits (https://www.postgresql.org/docs/current/errcodes-appendix.html, classes 22 and 54). */
const unsuitableData = /\(SQLSTATE (22|54)/

/**
 * Returns the kind of a failure. Dapr reports a conflict as INTERNAL (13) in a transaction, and as ABORTED (10) otherwise. INVALID_ARGUMENT may mean
 * that a component is not loaded (pkg/api/errors). RESOURCE_EXHAUSTED means either a message that is too large or a temporary quota, and only the
 * text shows which. Dapr 1.18.2 hides why Kafka refused a record (`kafka: Failed to deliver 1 messages.`), so the result for a large record is
 * `unavailable`.
 */
function failureOf({ code, details }: ServiceError): SidecarFailure {
  if (/ is not (found|configured)$/.test(details)) return 'unavailable'
  // The error's code does not matter: the same write succeeds when the disk has space again.
  if (reportsFullDisk(details)) return 'unavailable'
  if (code === status.INVALID_ARGUMENT || reportsTooLarge(details) || unsuitableData.test(details)) return 'refused'
  const raced = (code === status.INTERNAL || code === status.ABORTED) && /etag/i.test(details)
  return raced ? 'conflict' : 'unavailable'
}
