import { dirname, join } from 'node:path'
import { cacheFolder, versions } from '../lib/paths.ts'
import { buildTime, goBuild } from './go-build.ts'
import type { Provisioned } from './options.ts'
import { go } from './tools.ts'

/** The module that holds Jaeger 2: its versions are numbered on from those of Jaeger 1, of which v1.76.0 is the last. */
export const jaegerModule = `github.com/jaegertracing/jaeger@v${versions.jaeger}`

/** A collector of traces, built from its Go module. Its page is in no module: stack/traces has ours. */
export function jaegerTool(): Provisioned {
  const name = `jaeger ${versions.jaeger}`
  return {
    folder: dirname(jaegerFile()),
    about: `${name}: building from source, since no package registry has the program: ${buildTime(9)}`,
    needs: [go],
    make: (folder, options) =>
      goBuild(
        join(folder, 'jaeger'),
        { name, module: jaegerModule, package: './cmd/jaeger', flags: [], variables: {} },
        options,
      ),
  }
}

/** In the cache. */
export function jaegerFile(): string {
  return join(cacheFolder(), `jaeger-${versions.jaeger}`, 'jaeger')
}
