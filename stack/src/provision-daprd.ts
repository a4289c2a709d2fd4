import { dirname, join } from 'node:path'
import { daprdFile, versions } from './paths.ts'
import type { Provisioned, ProvisionOptions } from './provision.ts'
import { runTool } from './run-tool.ts'
import { go } from './tools.ts'

const progressEveryMs = 10_000

/** The Dapr sidecar, built from its Go module: no registry has it as a binary. */
export function daprdTool(): Provisioned {
  return { folder: dirname(daprdFile()), needs: [go], make: build }
}

async function build(folder: string, options: ProvisionOptions): Promise<void> {
  const { onProgress, signal } = options
  const name = `daprd ${versions.dapr}`
  onProgress(`${name}: building from source, about 5 minutes the first time`)
  const startedAt = Date.now()
  let downloaded = 0
  let compiled = 0
  const timer = setInterval(() => {
    const seconds = Math.round((Date.now() - startedAt) / 1000)
    onProgress(`${name}: ${seconds} s, ${downloaded} modules downloaded, ${compiled} packages compiled`)
  }, progressEveryMs)
  try {
    const module = `github.com/dapr/dapr@v${versions.dapr}`
    const source = JSON.parse(await runTool('go', ['mod', 'download', '-json', module], { cwd: folder, signal })) as {
      Dir: string
    }
    // The recipe of Dapr's own Makefile, with the stable components only.
    const version = `-X github.com/dapr/dapr/pkg/buildinfo.version=${versions.dapr}`
    const flags = ['-v', '-tags', 'stablecomponents', '-trimpath', '-ldflags', `-s -w ${version}`]
    await runTool('go', ['build', ...flags, '-o', join(folder, 'daprd'), './cmd/daprd'], {
      cwd: source.Dir,
      env: { CGO_ENABLED: '0' },
      // With -v go names each package it compiles; downloads have a prefix.
      onLine: (line) => {
        if (line.startsWith('go: ')) downloaded += 1
        else compiled += 1
      },
      signal,
    })
  } finally {
    clearInterval(timer)
  }
}
