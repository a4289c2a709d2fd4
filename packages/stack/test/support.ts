import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { CliError } from '../src/base/error.ts'
import { readProcessTable } from '../src/base/process-table.ts'
import { startProcess } from '../src/processes/process/control.ts'

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

/** Returns the code, the message and the next step with which `work` fails; undefined if it succeeds. */
export function refusal(work: () => unknown): string | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    const { code, message, nextStep } = error as CliError
    return `${code}: ${message}; ${nextStep}`
  }
}

/** Checks that `work` refuses the value `other` of a variable of a running stack, and that its message has no value. */
export function expectRefusalOf(name: string, value: string, work: () => unknown): void {
  const text = refusal(work)
  expect(text)
    .to.match(/^still-running: /)
    .and.contain(`make up ${name}=...`)
  expect(text).not.to.contain(value).and.not.contain('=other')
}

export const isRunning = (pid: number) => readProcessTable().has(pid)
