import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPage } from '../../../page/build.ts'
import { readPage } from '../../../src/page-files.ts'

let built: ReturnType<typeof build> | undefined

/** Builds the current page for this process only, because other tests and monitors run at the same time. */
export const builtPage = () => {
  built ??= build()
  return built
}

async function build() {
  const folder = mkdtempSync(join(tmpdir(), 'page-'))
  try {
    await buildPage(folder)
    return readPage(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
