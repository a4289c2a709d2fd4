import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Configuration } from './configurations.ts'

export interface Finding {
  states: number
  seconds: number
  /** The violated property, or undefined if all hold. */
  violated: string | undefined
  output: string
}

/**
 * @param command the command of TLC without options
 * @param folder the folder of the modules
 * @throws {Error} if TLC reaches no verdict
 */
export async function check(command: string[], folder: string, { module, text }: Configuration): Promise<Finding> {
  const temporary = mkdtempSync(join(tmpdir(), 'orderflow-model-'))
  const startedAt = performance.now()
  try {
    const file = join(temporary, 'model.cfg')
    writeFileSync(file, text)
    const [program = '', ...options] = command
    // Simultaneous runs must not share Java’s temporary folder, where TLC unpacks its modules.
    const args = [
      `-Djava.io.tmpdir=${temporary}`,
      ...options,
      'tlc2.TLC',
      '-metadir',
      temporary,
      '-config',
      file,
      module,
    ]
    const output = await printed(program, args, folder)
    return { ...verdictOf(output, text), seconds: (performance.now() - startedAt) / 1000, output }
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

/** Runs TLC and returns its output, which is more precise than its exit code. */
function printed(program: string, args: string[], cwd: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      resolve(stdout + stderr || String(error))
    })
  })
}

/** Reads TLC’s output. TLC does not say which temporal property is violated, so the result then has the names of all of them. */
export function verdictOf(output: string, text: string): Pick<Finding, 'states' | 'violated'> {
  const states = Number(/^\d+ states generated, (\d+) distinct states found/m.exec(output)?.[1])
  const [, named] = /^Error: (?:Invariant|Action property) (\w+) is violated/m.exec(output) ?? []
  const properties = /^PROPERTIES (.*)$/m.exec(text)?.[1]
  const violated = named ?? (output.includes('Error: Temporal properties were violated.') ? properties : undefined)
  const holds = output.includes('Model checking completed. No error has been found.')
  if (Number.isNaN(states) || holds === (violated !== undefined)) throw new Error(`TLC reached no verdict:\n${output}`)
  return { states, violated }
}
