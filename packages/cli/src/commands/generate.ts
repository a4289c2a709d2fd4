import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { generatedFiles } from '../generate/files.ts'
import { repository } from '../lib/paths.ts'
import { replaceFile } from '../lib/replace-file.ts'
import { print } from '../lib/terminal.ts'

/** `make generate`: writes what follows from services.json, and says what has changed. */
export function generate(): void {
  const changed = [...generatedFiles()].filter(([path, text]) => read(path) !== text)
  for (const [path, text] of changed) {
    if (text === undefined) rmSync(join(repository, path))
    else replaceFile(join(repository, path), text)
    print(`${text === undefined ? 'removed' : 'written'}: ${path}`)
  }
  if (changed.length === 0) print('nothing has changed')
}

function read(path: string): string | undefined {
  const file = join(repository, path)
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}
