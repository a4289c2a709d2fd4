import type { Part } from '../report/part.ts'
import { access } from './access.ts'
import { compare } from './compare.ts'
import { envelope } from './envelope.ts'
import { gateway } from './gateway.ts'
import { growth } from './growth.ts'
import { key } from './key.ts'
import { large } from './large.ts'
import { latency } from './latency.ts'
import { loop } from './loop.ts'
import { metrics } from './metrics.ts'
import { monitor } from './monitor.ts'
import { network } from './network.ts'
import { outbox } from './outbox.ts'
import { outside } from './outside.ts'
import { pods } from './pods.ts'
import { post } from './post.ts'
import { replicas } from './replicas.ts'
import { scaling } from './scaling.ts'
import { secured } from './secured.ts'
import { started } from './started.ts'
import { traces } from './traces.ts'

export const parts = {
  post,
  access,
  outside,
  gateway,
  loop,
  latency,
  outbox,
  growth,
  key,
  large,
  replicas,
  secured,
  traces,
  metrics,
  monitor,
  network,
  pods,
  scaling,
  started,
  compare,
  envelope,
} satisfies Record<string, Part>
export type PartName = keyof typeof parts
