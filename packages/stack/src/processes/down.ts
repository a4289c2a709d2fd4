import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { localFolder } from '../application/paths.ts'
import { stopStack } from './process/control.ts'

/** Stops all processes. Returns false if nothing ran. */
export async function down(onProgress: (line: string) => void): Promise<boolean> {
  return (await stopStack(localFolder, onProgress)).length > 0
}

/** Removes the data, the logs and the records of processes. Returns the removed folders. The caller holds the lock in the folder `run`, which stays. */
export async function clean(): Promise<string[]> {
  const run = join(localFolder, 'run')
  const records = existsSync(run) ? readdirSync(run).filter((name) => !name.startsWith('lock')) : []
  const folders = ['data', 'logs'].map((name) => join(localFolder, name)).filter((folder) => existsSync(folder))
  for (const path of [...folders, ...records.map((name) => join(run, name))]) rmSync(path, { recursive: true })
  return records.length > 0 ? [...folders, run] : folders
}
