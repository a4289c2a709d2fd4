import { spawn } from 'node:child_process'
import { CliError } from '../lib/error.ts'
import type { Context } from './context.ts'
import { findWeb } from './platform.ts'

/** `./orderflow ps NAME`: the processes, their states and releases. */
export async function listProcesses({ platform, operator, out, service }: Context): Promise<void> {
  const dynos = await platform.dynos()
  for (const { name, state, release, updated_at: since, size } of dynos) {
    out.print(`${name.padEnd(10)} ${state.padEnd(9)} v${release.version}  since ${since}  ${size}`)
  }
  if (dynos.length > 0) return
  const { quantity } = await webOf({ platform, operator, service })
  if (quantity === 0) out.print(`stopped: ./orderflow start ${service.role} --app ${operator.app}`)
  else out.print('restarting: ask again in a moment')
}

/** `./orderflow stop NAME`. Stopped alone, the platform would start it again; so none is wanted any more. */
export async function stopWeb(context: Context): Promise<void> {
  const { platform, out } = context
  await webOf(context)
  await platform.stopDyno('web.1').catch((error: unknown) => {
    if (!(error instanceof CliError && error.status === 404)) throw error
  })
  await platform.scaleWeb(0)
  out.print('web: stopped')
}

/** `./orderflow start NAME`: as many web processes as services.json says, or as are wanted already. */
export async function startWeb(context: Context): Promise<void> {
  const { platform, operator, service, out } = context
  const { quantity } = await webOf(context)
  if (quantity === 0) await platform.scaleWeb(service.replicas)
  out.print(
    `web: ${quantity || service.replicas} wanted; ./orderflow ps ${service.role} --app ${operator.app} shows when it is up`,
  )
}

/** The process type that a release makes. @throws {CliError} when there was no release, or it was taken back */
async function webOf({ platform, operator, service }: Pick<Context, 'platform' | 'operator' | 'service'>) {
  const web = await findWeb(platform)
  if (web) return web
  throw new CliError('platform', `nothing is released to ${operator.app}`, {
    nextStep: `./orderflow release ${service.role} --app ${operator.app}`,
  })
}

/** `./orderflow open NAME`: prints the app's address and, where there is a desktop, opens it. */
export async function openApp({ platform, out, operator }: Context): Promise<void> {
  const { web_url: url } = await platform.app()
  if (!url) throw new CliError('platform', `${operator.app} has no address`, { nextStep: 'see its domains' })
  out.print(url)
  const command = process.stdout.isTTY && openerOf(process.platform, process.env)
  if (!command) return
  const opener = spawn(command, [url], { stdio: 'ignore', detached: true })
  opener.once('error', () => {})
  opener.unref()
}

/** The program that opens a page; undefined where there is no desktop. */
export function openerOf(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): string | undefined {
  if (platform === 'darwin') return 'open'
  return env.DISPLAY || env.WAYLAND_DISPLAY ? 'xdg-open' : undefined
}
