import { join } from 'node:path'
import { npmTools } from '../support/npm-tools.ts'

/** Returns the folder with the programs of this folder’s package.json (78 MB). */
export async function measuringTools(): Promise<string> {
  return join(await npmTools('measure', import.meta.dirname, 'Stryker and c8: downloading 70 MB'), '.bin')
}
