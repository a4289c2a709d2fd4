import type { Request, Response } from 'express'
import { callerOf } from '../auth/caller.ts'
import { type Inputs, readInputs, type Values } from './input.ts'
import type { Model } from './model.ts'
import type { Definition, Route } from './route.ts'

/** Proxies end a connection on which nothing came for a while: Heroku's after 55 s. */
const heartbeatMs = 15_000
/** What waits for a client that reads slowly. Beyond that it gets nothing until it has read. */
const maxWaitingBytes = 64 * 1024

/** Sends a message to one client: false when the client reads too slowly, and it was not sent. Anything that JSON has. */
export type Send = (event: string, data: unknown) => boolean

/** An operation that answers with messages for as long as its client stays (`text/event-stream`, HTML Living Standard, section 9.2). */
export interface StreamDefinition<I extends Inputs>
  extends Pick<Definition<I, 200, unknown>, 'path' | 'scope' | 'summary' | 'description' | 'input'> {
  /** What its messages hold, by `event`. */
  body: Model<unknown>
  /** Begins to send. Answers what to do when the client has left. */
  open(input: Values<I>, send: Send, context: { caller: ReturnType<typeof callerOf> }): () => void
}

/** Answers of this kind which are under way, and which a stop must end: their clients come again by themselves. */
export interface Streams {
  route<I extends Inputs>(definition: StreamDefinition<I>): Route
  /** Ends them all, and each one that begins later at once. */
  end(): void
}

/** A service's streams. It ends them when it stops (`ServiceParts.background`), which waits for its last answer. */
export function createStreams(): Streams {
  const open = new Set<Response>()
  let isEnding = false

  return {
    route<I extends Inputs>({
      path,
      scope,
      summary,
      description,
      input,
      body,
      open: begin,
    }: StreamDefinition<I>): Route {
      const operation = {
        ...{ method: 'get' as const, path, scope, summary, description, inputs: Object.values(input) },
        ...{
          answers: { 200: 'Messages, as `text/event-stream`.' },
          body,
          mediaType: 'text/event-stream',
          refusals: [],
        },
      }
      return {
        operation,
        async handle(request: Request, response: Response) {
          // The client may have left during authentication. Its response has emitted `close` then, and never emits it again.
          if (request.socket.destroyed) return
          const values = readInputs(input, request)
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
          // What it throws before its first message is answered as a problem.
          close = begin(values, send, { caller: callerOf(request) })
          response.flushHeaders()
        },
      }
    },
    end() {
      isEnding = true
      for (const response of open) response.end()
    },
  }
}
