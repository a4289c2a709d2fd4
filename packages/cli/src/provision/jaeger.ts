import { join } from 'node:path'
import { versions } from '../lib/paths.ts'
import { goTool } from './go-build.ts'
import type { Provisioned } from './options.ts'

/** The module that holds Jaeger 2: its versions are numbered on from those of Jaeger 1, of which v1.76.0 is the last. */
export const jaegerModule = `github.com/jaegertracing/jaeger@v${versions.jaeger}`

/** A collector of traces. Its page is in no module: packages/cli/traces has ours. */
export const jaegerTool = (): Provisioned =>
  goTool('jaeger', versions.jaeger, 9, { module: jaegerModule, package: './cmd/jaeger', variables: {} })

/** In the cache. */
export const jaegerFile = (): string => join(jaegerTool().folder, 'jaeger')
