import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { generatedFiles } from '../generate/files.ts'
import { replaceFile } from '../lib/files.ts'
import { repository } from '../lib/paths.ts'
import { print } from '../lib/terminal.ts'

/** `make generate`: writes the files that follow from services.json and the schemas, and prints which have changed. */
export function generate(): void {
  const types = generateTypes()
  if (types !== '') print(types)
  const changed = [...generatedFiles()].filter(([path, text]) => read(path) !== text)
  for (const [path, text] of changed) {
    if (text === undefined) rmSync(join(repository, path))
    else replaceFile(join(repository, path), text)
    print(`${text === undefined ? 'removed' : 'written'}: ${path}`)
  }
  if (changed.length === 0 && types === '') print('nothing has changed')
}

/** Generates the types of the events, in a process of its own: the generator is needed for nothing else. Returns what it printed. */
function generateTypes(): string {
  const script = join(repository, 'packages/envelope/generate-types.ts')
  return execFileSync(process.execPath, [script], { cwd: repository, encoding: 'utf8' }).trim()
}

function read(path: string): string | undefined {
  const file = join(repository, path)
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}
