import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Reads files, and all files of folders. Returns a function that restores them, and removes files that were added since.
 * @param paths files and folders, relative to `root`, which may be missing
 */
export function snapshotOf(root: string, paths: Iterable<string>): () => void {
  const all = [...paths]
  const before = new Map(filesAt(root, all).map((file) => [file, readFileSync(file)]))
  return () => {
    // Removes files first, because a full disk may be the reason to restore.
    for (const file of filesAt(root, all)) if (!before.has(file)) rmSync(file, { force: true })
    for (const [file, content] of before) {
      if (existsSync(file) && readFileSync(file).equals(content)) continue
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, content)
    }
  }
}

function filesAt(root: string, paths: string[]): string[] {
  return paths.flatMap((path) => {
    const state = statSync(join(root, path), { throwIfNoEntry: false })
    if (!state?.isDirectory()) return state ? [join(root, path)] : []
    return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
  })
}
