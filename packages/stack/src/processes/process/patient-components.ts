import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../lib/files.ts'
import { repository } from '../lib/paths.ts'

/** The folder of the components of sidecars that wait for a service while a debugger stops it. */
export const patientComponents = (folder: string): string => join(folder, 'components')

/** Copies `components/`, and lets a delivery take one day. Then the sidecar does not repeat a delivery whose service is at a breakpoint. */
export function writePatientComponents(folder: string): void {
  const copy = patientComponents(folder)
  rmSync(copy, { recursive: true, force: true })
  cpSync(join(repository, 'components'), copy, { recursive: true })
  const file = join(copy, 'resiliency.yaml')
  replaceFile(file, readFileSync(file, 'utf8').replace(/(?<=^ +handler: ).*$/m, '24h'))
}
