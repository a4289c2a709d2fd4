import { print, timed } from '@orderflow/stack/base'
import { docker, ensureCompose, ensureEngine } from '@orderflow/stack/machine'
import type { Command } from '../../command-line.ts'

export const command: Command = {
  async run({ signal }) {
    const options = { onProgress: timed(), signal: signal() }
    await ensureEngine(options)
    await ensureCompose(options)
    const version = await docker('version', '--format', '{{.Server.Version}}')
    print(`Docker engine ${version.trim()}, ${(await docker('compose', 'version')).trim()}`)
  },
}
