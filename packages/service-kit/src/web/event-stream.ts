import type { Request, Response } from 'express'
import type { Caller } from '../auth/caller.ts'
import { type Inputs, inputsReader, type Values } from './input.ts'
import type { Model } from './model.ts'
import type { Definition, Route } from './route.ts'
import { callerOf } from './security.ts'

/** The time between heartbeats. Proxies close silent connections; Heroku's proxy closes them after 55 s. */
const heartbeatMs = 15_000
/** The number of bytes that may wait for a slow client. */
const maxWaitingBytes = 64 * 1024

/** Sends a message with JSON data to one client. Returns false if the message was dropped, because the client is slow. */
export type Send = (event: string, data: unknown) => boolean

/** An operation that sends messages until its client disconnects (`text/event-stream`, HTML Living Standard, section 9.2). */
interface StreamDefinition<I extends Inputs>
  extends Pick<Definition<I, 200, unknown>, 'path' | 'scope' | 'summary' | 'description' | 'input'> {
  body: Model<unknown>
  /** Begins to send messages. Returns a function that is called when the client has disconnected. */
  open(input: Values<I>, send: Send, context: { caller: Caller | undefined }): () => void
}

export type Streams = ReturnType<typeof createStreams>

/** Creates a service's open event streams. Shutdown ends them, and their clients reconnect. The service's `background.stop` must end them, because the shutdown waits for the last answer. */
export function createStreams() {
  const open = new Set<Response>()
  let isEnding = false

  return {
    route<I extends Inputs>({ description, input, open: begin, ...described }: StreamDefinition<I>): Route {
      const readInputs = inputsReader(input)
      const operation = {
        ...{ ...described, method: 'get' as const, description, inputs: Object.values(input), refusals: [] },
        ...{ answers: { 200: 'Messages, as `text/event-stream`.' }, mediaType: 'text/event-stream' },
      }
      return {
        operation,
        async handle(request: Request, response: Response) {
          // If the client disconnected during authentication, the response has already emitted `close`.
          if (request.socket.destroyed) return
          const values = readInputs(request)
          response.status(200).set({ 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' })
          if (request.method === 'HEAD' || isEnding) return void response.end()
          const heartbeat = setInterval(() => write(':\n\n'), heartbeatMs)
          function write(text: string): void {
            response.write(text)
            heartbeat.refresh()
          }
          const send: Send = (event, data) => {
            if (response.writableLength > maxWaitingBytes || response.writableEnded) return false
            write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
            return true
          }
          open.add(response)
          let close = () => {}
          response.once('close', () => {
            clearInterval(heartbeat)
            open.delete(response)
            close()
          })
          // If this call throws before the first message, the client gets problem details.
          close = begin(values, send, { caller: callerOf(response) })
          response.flushHeaders()
        },
      }
    },
    /** Ends all streams. Streams that are opened later end at once. */
    end(): void {
      isEnding = true
      for (const response of open) response.end()
    },
  }
}
