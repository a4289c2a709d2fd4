import type { Part } from '../support/part.ts'
import { latency } from './latency.ts'
import { loop } from './loop.ts'
import { outbox } from './outbox.ts'
import { outside } from './outside.ts'
import { post } from './post.ts'

/** In the order they run. */
export const parts = { post, outside, loop, latency, outbox } satisfies Record<string, Part>
export type PartName = keyof typeof parts
