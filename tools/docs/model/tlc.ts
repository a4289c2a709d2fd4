import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Configuration } from './configurations.ts'

/** What TLC found out about a configuration. */
export interface Finding {
  /** Distinct states. */
  states: number
  seconds: number
  /** The invariant or property that is violated; undefined when all hold. */
  violated: string | undefined
  /** All that TLC printed, with the counterexample. */
  output: string
}

/**
 * Has TLC check a configuration.
 * @param command runs TLC, without its options
 * @param folder has the modules
 * @throws when TLC comes to no verdict: a module is wrong, or the memory does not suffice
 */
export async function check(command: string[], folder: string, { module, text }: Configuration): Promise<Finding> {
  const temporary = mkdtempSync(join(tmpdir(), 'orderflow-model-'))
  const startedAt = performance.now()
  try {
    const file = join(temporary, 'model.cfg')
    writeFileSync(file, text)
    const [program = '', ...options] = command
    // It unpacks its own modules into Java's folder for temporary files, where others would do the same at this moment.
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

/** TLC ends with another code for each kind of violation, and says in words what it was. */
function printed(program: string, args: string[], cwd: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      resolve(stdout + stderr || String(error))
    })
  })
}

/** Reads what TLC printed. Of a violated property it says no name: with one in the configuration, it is that one. */
export function verdictOf(output: string, text: string): Pick<Finding, 'states' | 'violated'> {
  const states = Number(/^\d+ states generated, (\d+) distinct states found/m.exec(output)?.[1])
  const [, named] = /^Error: (?:Invariant|Action property) (\w+) is violated/m.exec(output) ?? []
  const properties = /^PROPERTIES (.*)$/m.exec(text)?.[1]
  const violated = named ?? (output.includes('Error: Temporal properties were violated.') ? properties : undefined)
  const holds = output.includes('Model checking completed. No error has been found.')
  if (Number.isNaN(states) || holds === (violated !== undefined)) throw new Error(`TLC came to no verdict:\n${output}`)
  return { states, violated }
}
