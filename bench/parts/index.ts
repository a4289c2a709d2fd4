import type { Part } from '../support/part.ts'
import { post } from './post.ts'

/** In the order they run. */
export const parts = { post } satisfies Record<string, Part>
export type PartName = keyof typeof parts
