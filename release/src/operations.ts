import { spawn } from 'node:child_process'
import type { Context } from './context.ts'
import { ReleaseError } from './error.ts'

/** `make ps-order`: the processes, their states and releases. */
export async function listProcesses({ platform, operator, out, service }: Context): Promise<void> {
  const dynos = await platform.dynos()
  for (const { name, state, release, updated_at: since, size } of dynos) {
    out.print(`${name.padEnd(10)} ${state.padEnd(9)} v${release.version}  since ${since}  ${size}`)
  }
  if (dynos.length === 0) out.print(`no process: make start-${service.name} APP=${operator.app}`)
}

/** `make stop-order`. Stopped alone, the platform would start it again; so none is wanted any more. */
export async function stopWeb({ platform, out }: Context): Promise<void> {
  await platform.stopDyno('web.1').catch((error: unknown) => {
    if (!(error instanceof ReleaseError && error.status === 404)) throw error
  })
  await platform.scaleWeb(0)
  out.print('web.1: stopped')
}

/** `make start-order`: one web process. */
export async function startWeb({ platform, out }: Context): Promise<void> {
  await platform.scaleWeb(1)
  out.print('web.1: starting')
}

/** `make open-order`: prints the app's address and, where there is a desktop, opens it. */
export async function openApp({ platform, out, operator }: Context): Promise<void> {
  const { web_url: url } = await platform.app()
  if (!url) throw new ReleaseError('platform', `${operator.app} has no address`, { nextStep: 'see its domains' })
  out.print(url)
  const hasDesktop = process.platform === 'darwin' || process.env.DISPLAY || process.env.WAYLAND_DISPLAY
  if (!hasDesktop || !process.stdout.isTTY) return
  const opener = spawn(process.platform === 'darwin' ? 'open' : 'xdg-open', [url], { stdio: 'ignore', detached: true })
  opener.once('error', () => {})
  opener.unref()
}
