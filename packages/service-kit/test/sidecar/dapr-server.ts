import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf'
import daprProto from '@dapr/dapr/proto/dapr/proto/runtime/v1/dapr_pb.js'
import { Server, ServerCredentials, type ServiceError, type status } from '@grpc/grpc-js'
import { createSidecar } from '../../src/sidecar/dapr-sidecar.ts'
import type { Sidecar, SidecarError } from '../../src/sidecar/sidecar.ts'

export type SaveStateRequest = MessageShape<typeof method.saveState.input>
export type Handler = (request: unknown) => unknown
export type InvokeBindingRequest = MessageShape<typeof method.invokeBinding.input>
const { method } = daprProto.Dapr
const methods = [
  method.getState,
  method.getBulkState,
  method.bulkPublishEventAlpha1,
  method.saveState,
  method.executeStateTransaction,
  method.getMetadata,
  method.invokeBinding,
]

export const statestore = { name: 'statestore', type: 'state.sqlite' }

/** Serves Dapr's protocol with given answers, including errors that a real sidecar returns only in an outage. */
export function daprServer() {
  const handlers: Record<string, Handler> = {}
  const tested = {
    ...{ handlers, token: undefined as unknown, traceparent: undefined as unknown, deadline: undefined as unknown },
    ...{ peer: '', sidecar: undefined as unknown as Sidecar },
  }
  let server: Server
  let port: number
  before(async () => {
    server = new Server()
    for (const { name, input, output } of methods) {
      const definition = {
        path: `/dapr.proto.runtime.v1.Dapr/${name}`,
        requestStream: false,
        responseStream: false,
        requestSerialize: (value: Buffer) => value,
        requestDeserialize: (bytes: Buffer) => fromBinary(input as DescMessage, bytes),
        responseSerialize: (value: MessageInitShape<DescMessage>) => {
          return Buffer.from(toBinary(output as DescMessage, create(output as DescMessage, value)))
        },
        responseDeserialize: (bytes: Buffer) => bytes,
      }
      server.addService({ [name]: definition }, {
        [name]: (
          call: {
            request: unknown
            metadata: { get(key: string): unknown[] }
            getDeadline(): unknown
            getPeer(): string
          },
          answer: (error: unknown, value?: unknown) => void,
        ) => {
          tested.token = call.metadata.get('dapr-api-token')[0]
          tested.traceparent = call.metadata.get('traceparent')[0]
          tested.deadline = call.getDeadline()
          tested.peer = call.getPeer()
          try {
            answer(null, handlers[name]?.(call.request))
          } catch (error) {
            answer(error)
          }
        },
      } as never)
    }
    port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      )
    })
  })
  const openSidecar = () =>
    createSidecar({
      Sidecar: { Host: '127.0.0.1', HttpPort: 1, GrpcPort: port, Token: 'dapr-token' },
      Stream: { PubSub: 'pubsub,pubsub-1' },
      State: { Store: 'statestore' },
    })
  beforeEach(() => {
    tested.sidecar = openSidecar()
    handlers.GetMetadata = () => ({ registeredComponents: [statestore] })
  })
  after(() => server.forceShutdown())

  const failure = (promise: Promise<unknown>) =>
    promise.then(
      () => 'none',
      (error: SidecarError) => `${error.name} ${error.failure}`,
    )
  const grpcError = (code: status, details: string) =>
    Object.assign(new Error(details), { code, details }) as ServiceError
  const event = { topic: 't', key: 'k', value: Buffer.from('{}'), headers: { traceparent: 'x' } }
  return Object.assign(tested, { openSidecar, failure, grpcError, event })
}
