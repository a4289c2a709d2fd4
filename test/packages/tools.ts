import { join } from 'node:path'
import { npmTools } from '../support/programs/npm-tools.ts'

/** Returns the programs of a registry and of the oldest Node that the contract's package supports. */
export async function packagesTools(): Promise<{ verdaccio: string; oldNode: string }> {
  const folder = await npmTools('packages', import.meta.dirname, 'Verdaccio and an older Node: downloading 60 MB')
  return {
    verdaccio: join(folder, 'verdaccio/bin/verdaccio'),
    oldNode: join(folder, `node-${process.platform}-${process.arch}/bin/node`),
  }
}
