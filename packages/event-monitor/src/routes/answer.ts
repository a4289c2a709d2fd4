import { type Context, type Input, type Inputs, type Model, type Route, route } from '@orderflow/service-kit'
import type { MonitorError } from '../monitor-error.ts'

type Values<I extends Inputs> = { [K in keyof I]: I[K] extends Input<infer T> ? T : never }

interface Asked<I extends Inputs, T> {
  path: string
  /** `GET` without a word before it. */
  method?: 'get' | 'post'
  /** `events:read` without. */
  scope?: 'events:read' | 'events:operate' | 'events:reveal'
  summary: string
  input: I
  status?: 200 | 202
  description?: string
  refusals?: readonly MonitorError['code'][]
  handle(input: Values<I>, context: Context): Promise<T> | T
}

/** An operation of the monitor: what it answers is a type of src/api, which the page shares. */
export function answer<I extends Inputs, T extends object>({
  method = 'get',
  scope = 'events:read',
  status = 200,
  refusals = [],
  handle,
  ...rest
}: Asked<I, T>): Route {
  const name = rest.summary
    .replace(/[^A-Za-z]+(\w)/g, (_, letter: string) => letter.toUpperCase())
    .replace(/[^A-Za-z]/g, '')
  const body: Model<T> = { name, schema: { type: 'object', description: 'A type of packages/event-monitor/src/api.' } }
  return route({
    ...rest,
    ...{ method, scope, refusals, body },
    answers: { [status]: 'What was asked for.' } as Record<200 | 202, string>,
    handle: async (input, context) => ({ status, body: await handle(input as Values<I>, context) }),
  })
}

/** Who somebody is, as it is recorded. */
export const nameOf = ({ caller }: Pick<Context, 'caller'>): string =>
  caller ? (caller.key ?? caller.id) : 'anybody on this machine'
