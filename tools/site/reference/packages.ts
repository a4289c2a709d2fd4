import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import type { Generated } from './markdown.ts'

const folder = 'tools/packages/signatures'

/** Returns a page for the public API of each package. */
export function packagePages(): Generated[] {
  return globSync(`${folder}/*.md`, { cwd: repository })
    .sort()
    .map((file) => {
      const name = basename(file, '.md')
      const text = readFileSync(join(repository, file), 'utf8')
      return {
        name: `api-${name}`,
        title: `API of ${name}`,
        description: `The public signatures of the package ${name}`,
        origin: `\`${file}\`, which a check of the packages compares with their code`,
        body: `[${name}](../../packages/${name}/README.md) describes the package.\n\n${text.replace(/^# .*\n+/, '')}`,
      }
    })
}
