import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../lib/paths.ts'
import { print } from '../lib/terminal.ts'
import { notices } from '../supply/notices.ts'
import { sbom } from '../supply/sbom.ts'

/** `./orderflow sbom`: what the system is made of, and the licenses of what is in its images. */
export function writeSbom(): void {
  const files = { 'orderflow.cdx.json': `${JSON.stringify(sbom(), null, 2)}\n`, 'NOTICES.txt': `${notices()}\n` }
  mkdirSync(join(repository, 'dist'), { recursive: true })
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(repository, 'dist', name), text)
    print(`dist/${name}`)
  }
}
