import type { Part } from '../support/part.ts'
import { outside } from './outside.ts'
import { post } from './post.ts'

/** In the order they run. */
export const parts = { post, outside } satisfies Record<string, Part>
export type PartName = keyof typeof parts
