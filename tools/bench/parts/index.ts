import type { Part } from '../report/part.ts'
import { compare } from './compare.ts'
import { deadlinesPart as deadlines } from './deadlines.ts'
import { gateway } from './gateway.ts'
import { growth } from './growth.ts'
import { key } from './key.ts'
import { large } from './large.ts'
import { latency } from './latency.ts'
import { loop } from './loop.ts'
import { outside } from './outside.ts'
import { post } from './post.ts'
import { replicas } from './replicas.ts'

export const parts = {
  post,
  outside,
  gateway,
  loop,
  latency,
  growth,
  key,
  large,
  deadlines,
  replicas,
  compare,
} satisfies Record<string, Part>
export type PartName = keyof typeof parts
