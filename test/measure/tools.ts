import { join } from 'node:path'
import { npmTools } from '../support/programs/npm-tools.ts'

export async function measuringTools(): Promise<string> {
  return join(await npmTools('measure', import.meta.dirname, 'Stryker and c8: downloading 70 MB'), '.bin')
}
