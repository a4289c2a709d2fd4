import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readProcessTable } from '../src/lib/process-table.ts'
import { startProcess } from '../src/processes/process-control.ts'

const made: string[] = []

/** Creates an empty folder with a space in its path. `removeFolders` removes it. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'orderflow stack '))
  made.push(folder)
  return folder
}

export function removeFolders(): void {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
}

export function startScript(folder: string, name: string, script: string): number {
  return startProcess(folder, { name, command: process.execPath, args: ['-e', script], env: {}, ports: {} })
}

export function deadPid(): number {
  const table = readProcessTable()
  for (let pid = 300_000; ; pid += 1) if (!table.has(pid)) return pid
}

export const isRunning = (pid: number) => readProcessTable().has(pid)
