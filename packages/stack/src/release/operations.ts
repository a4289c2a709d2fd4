import { spawn } from 'node:child_process'
import { CliError } from '../base/error.ts'
import type { Context } from './context.ts'
import { findWeb } from './platform/platform.ts'

export async function listProcesses({ platform, operator, out, service }: Context): Promise<void> {
  const dynos = await platform.dynos()
  for (const { name, state, release, updated_at: since, size } of dynos) {
    out.print(`${name.padEnd(10)} ${state.padEnd(9)} v${release.version}  since ${since}  ${size}`)
  }
  if (dynos.length > 0) return
  const { quantity } = await webOf({ platform, operator, service })
  if (quantity === 0) out.print(`stopped: ./orderflow start ${service.role} --app ${operator.app}`)
  else out.print('restarting: run this again in a moment')
}

/** Runs `./orderflow stop NAME`. Sets the number of processes to 0, because the platform restarts processes that have ended. */
export async function stopWeb(context: Context): Promise<void> {
  const { platform, out } = context
  await webOf(context)
  await platform.stopDyno('web.1').catch((error: unknown) => {
    if (!(error instanceof CliError && error.status === 404)) throw error
  })
  await platform.scaleWeb(0)
  out.print('web: stopped')
}

/** Runs `./orderflow start NAME`. If the app is stopped, starts the number of processes that services.json declares. */
export async function startWeb(context: Context): Promise<void> {
  const { platform, operator, service, out } = context
  const { quantity } = await webOf(context)
  if (quantity === 0) await platform.scaleWeb(service.replicas)
  out.print(
    `web: starting ${quantity || service.replicas}; ./orderflow ps ${service.role} --app ${operator.app} shows the state`,
  )
}

/** @throws {CliError} if no release of the app exists */
async function webOf({ platform, operator, service }: Pick<Context, 'platform' | 'operator' | 'service'>) {
  const web = await findWeb(platform)
  if (web) return web
  throw new CliError('platform', `nothing is released to ${operator.app}`, {
    nextStep: `./orderflow release ${service.role} --app ${operator.app}`,
  })
}

/** Runs `./orderflow open NAME`. Opens a browser only on a desktop. */
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

/** Returns the program that opens a browser, or undefined without a desktop. */
export function openerOf(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): string | undefined {
  if (platform === 'darwin') return 'open'
  return env.DISPLAY || env.WAYLAND_DISPLAY ? 'xdg-open' : undefined
}
