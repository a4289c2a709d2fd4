import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../../application/paths.ts'
import { declaredSettings, select } from '../../application/variables.ts'
import { replaceFile } from '../../base/files.ts'

/**
 * Returns the variables for `components/`: the sections `Stream` and `State` of `appsettings.json` as `Section__Key`. The stack's variables
 * replace these values.
 * @throws {CliError} `settings` if the file is invalid
 */
export function componentSettings(serviceFolder: string, env: NodeJS.ProcessEnv): Record<string, string> {
  return select({ ...declaredSettings(serviceFolder), ...env }, (name) => /^(Stream|State)__\w+$/.test(name))
}

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
