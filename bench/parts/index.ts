import type { Part } from '../support/part.ts'
import { growth } from './growth.ts'
import { latency } from './latency.ts'
import { loop } from './loop.ts'
import { outbox } from './outbox.ts'
import { outside } from './outside.ts'
import { post } from './post.ts'
import { replicas } from './replicas.ts'

/** In the order they run. */
export const parts = { post, outside, loop, latency, outbox, growth, replicas } satisfies Record<string, Part>
export type PartName = keyof typeof parts
