import { dirname, join } from 'node:path'
import { daprdFile, versions } from '../lib/paths.ts'
import { buildTime, goBuild } from './go-build.ts'
import type { Provisioned, ProvisionOptions } from './options.ts'
import { go } from './tools.ts'

const name = `daprd ${versions.dapr}`
const about = `${name}: building from source, since no package registry has the program: ${buildTime(10)}`

/** The Dapr sidecar, built from its Go module: no registry has it as a binary. */
export function daprdTool(): Provisioned {
  return { folder: dirname(daprdFile()), about, needs: [go], make: build }
}

/** The module that holds daprd. */
export const daprdModule = `github.com/dapr/dapr@v${versions.dapr}`

async function build(folder: string, options: ProvisionOptions): Promise<void> {
  // The recipe of Dapr's own Makefile, with the stable components only.
  const program = {
    name,
    module: daprdModule,
    package: './cmd/daprd',
    flags: ['-tags', 'stablecomponents'],
    variables: { 'github.com/dapr/dapr/pkg/buildinfo.version': versions.dapr },
  }
  await goBuild(join(folder, 'daprd'), program, options)
}
