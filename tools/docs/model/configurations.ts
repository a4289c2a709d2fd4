import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** A model with the values of its constants, which TLC checks. */
export interface Configuration {
  /** `Batch`, or `Batch without Etag`. */
  name: string
  /** The name of its file, without the ending: `Orders.rebuild`. */
  model: string
  /** The guard that was taken away. */
  without?: string
  /** The module, in `<module>.tla`. */
  module: string
  /** What TLC reads as the configuration's file. */
  text: string
  /** The invariant or property that must be violated; undefined when all must hold. */
  violates: string | undefined
}

/** A row of the table in README.md: what a guard is, and what goes wrong without it. */
export interface Guard {
  /** The name of the configuration's file, without its ending. */
  model: string
  constant: string
  violates: string
  /** The test of the code that is the counterexample, or what it waits for. */
  test: string
}

const folder = import.meta.dirname

/** The table of guards in README.md. */
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

/** The text of each configuration's file, by its name without the ending. */
export function readModels(): Map<string, string> {
  const files = globSync('*.cfg', { cwd: folder }).sort()
  return new Map(files.map((file) => [basename(file, '.cfg'), readFileSync(join(folder, file), 'utf8')]))
}

/** Every model as it stands, each followed by those that lack one guard. */
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

/** The model without a guard. Of its properties only the one that must be violated is left, since TLC does not say which one was. */
function withoutGuard(text: string, constant: string, violates: string): string {
  const weaker = text.replace(`  ${constant} = TRUE`, `  ${constant} = FALSE`)
  if (weaker === text) throw new Error(`there is no guard ${constant} to take away`)
  return weaker.replace(/^PROPERTIES (.*)\n/m, (_, names: string) =>
    names.split(' ').includes(violates) ? `PROPERTIES ${violates}\n` : '',
  )
}
