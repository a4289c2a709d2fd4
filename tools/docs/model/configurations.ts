import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** A model with values for its constants, which TLC checks. */
export interface Configuration {
  /** For example `Batch`, or `Batch without Etag`. */
  name: string
  /** The name of its .cfg file without the ending, for example `Entity.apart`. */
  model: string
  without?: string
  module: string
  /** The content of the .cfg file. */
  text: string
  /** The property that must be violated, or undefined if all must hold. */
  violates: string | undefined
}

/** A row of the table in README.md: a guard, and the violation without it. */
export interface Guard {
  model: string
  constant: string
  violates: string
  /** A link to the test of the code with the same interleaving, or the reason why there is no test. */
  test: string
}

const folder = import.meta.dirname

/** Reads the table of guards in README.md. */
export function readGuards(): Guard[] {
  const rows = readFileSync(join(folder, 'README.md'), 'utf8').matchAll(
    /^\| `([\w.]+)` \| `(\w+)` \| .+ \| `(\w+)` \| (.+) \|$/gm,
  )
  return [...rows].map(([, model = '', constant = '', violates = '', test = '']) => ({
    model,
    constant,
    violates,
    test,
  }))
}

export function readModels(): Map<string, string> {
  const files = globSync('*.cfg', { cwd: folder }).sort()
  return new Map(files.map((file) => [basename(file, '.cfg'), readFileSync(join(folder, file), 'utf8')]))
}

/** Returns every complete model, followed by its variants that lack one guard. */
export function configurations(models = readModels(), guards = readGuards()): Configuration[] {
  return [...models].flatMap(([model, text]) => {
    const module = model.split('.')[0] as string
    const own = guards.filter((guard) => guard.model === model)
    return [
      { name: model, model, module, text, violates: undefined },
      ...own.map(({ constant, violates }) => ({
        name: `${model} without ${constant}`,
        model,
        without: constant,
        module,
        text: withoutGuard(text, constant, violates),
        violates,
      })),
    ]
  })
}

/**
 * Removes a guard from a .cfg file. Also removes the temporal properties, except the one that must be violated, because TLC does not name a
 * violated temporal property.
 */
function withoutGuard(text: string, constant: string, violates: string): string {
  const weaker = text.replace(`  ${constant} = TRUE`, `  ${constant} = FALSE`)
  if (weaker === text) throw new Error(`the model has no guard ${constant} to remove`)
  return weaker.replace(/^PROPERTIES (.*)\n/m, (_, names: string) =>
    names.split(' ').includes(violates) ? `PROPERTIES ${violates}\n` : '',
  )
}
