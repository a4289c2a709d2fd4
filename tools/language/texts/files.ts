import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { textsOfCode } from './code.ts'
import { textsOfJson } from './json.ts'
import { lineCommentMark, textsOfLines } from './lines.ts'
import { textsOfMarkdown } from './markdown.ts'
import type { Text } from './text.ts'

/** The folder of the repository. */
export const repository = fileURLToPath(new URL('../../..', import.meta.url))

/** Files whose texts are not checked: generated files, copies, texts of other authors, and data of tests. */
const omitted =
  /\.gen\.ts$|(^|\/)(?:bundled|fixtures|golden|grafana\/dashboards)\/|package-lock\.json$|^(?:LICENSE|envelope-schema\/asyncapi\.json|packages\/envelope\/schemas\/.*|packages\/stack\/templates\/observe\/dashboard\.json|test\/security\/rules\/.*|docs\/performance\/.*)$/

/** Returns the files of the repository that may have texts. */
export function filesWithTexts(): string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate']
  const files = execFileSync('git', args, { cwd: repository, encoding: 'utf8', maxBuffer: 2 ** 26 }).split('\0')
  return files.filter((file) => file && !omitted.test(file) && existsSync(join(repository, file)))
}

/** Returns the texts of a file. The file's name decides how it is read, and a file of an unknown kind has no texts. */
export function textsOf(file: string, source: string): Text[] {
  if (/\.(?:ts|tsx|js|mjs)$/.test(file)) return textsOfCode(file, source)
  if (file.endsWith('.md')) return textsOfMarkdown(source)
  if (file.endsWith('.json')) return textsOfJson(source)
  const mark = lineCommentMark(file, source)
  return mark ? textsOfLines(file, source, mark) : []
}
