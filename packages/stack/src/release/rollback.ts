import { CliError } from '../base/error.ts'
import { type Change, changesBetween, describeChange, patchOf, secretsOf } from './config-vars.ts'
import type { Context } from './context.ts'
import { requireLive } from './live.ts'
import { findWeb } from './platform/platform.ts'
import type { Before } from './record.ts'

/** Runs `./orderflow rollback NAME`: restores the state before the last release that was made from this folder. Can be repeated. */
export async function rollback(context: Context, options: { dryRun: boolean }): Promise<void> {
  const { operator, journal, platform, out } = context
  const entry = journal.read()
  if (!entry) {
    throw new CliError('usage', `this folder has no release of ${operator.app}, or it was rolled back`, {
      nextStep: 'use heroku releases:rollback for an older release',
    })
  }
  const { before } = entry
  out.hide(secretsOf(before.configVars))
  out.hide(secretsOf(await platform.configVars()))
  const newest = await platform.newestRelease()
  const { length } = await changesToUndo(context, before)
  out.print(
    `${operator.app}: v${newest?.version} -> state ${before.release ? `of v${before.release.version}` : 'before the first release'}`,
  )
  out.print(
    `  ${length} config vars change; ${before.quantity === undefined ? 'the image is removed' : 'the previous image is restored'}`,
  )
  if (entry.finished && newest && newest.version > entry.finished.version) {
    out.complain(`warning: v${newest.version} (${newest.description}) is newer than that release, and is also undone`)
  }
  if (options.dryRun) return out.print('dry run: nothing was changed')

  if (before.quantity === undefined || !before.release) {
    if (await findWeb(platform)) await platform.removeImage()
    out.progress('release: the image is removed')
  } else {
    const { version } = await platform.rollBack(before.release.id)
    out.progress(`release: v${version} with the previous image and config vars`)
  }
  await restoreConfigVars(context, before)
  await restoreQuantity(context, before)

  if (before.quantity) out.progress(`live: v${await requireLive(context, await platform.app())}`)
  journal.remove()
  out.progress('rolled back')
}

/** Restores the config vars that still differ from their earlier values. */
async function restoreConfigVars(context: Context, before: Before): Promise<void> {
  const changes = await changesToUndo(context, before)
  if (changes.length === 0) return
  await context.platform.patchConfigVars(patchOf(changes))
  for (const change of changes) context.out.print(`    ${describeChange(change)}`)
  context.out.progress(`config vars: ${changes.length} restored`)
}

async function changesToUndo({ platform }: Context, { configVars }: Before): Promise<Change[]> {
  const wanted = Object.fromEntries(Object.entries(configVars).map(([name, value]) => [name, value ?? undefined]))
  return changesBetween(await platform.configVars(), wanted)
}

async function restoreQuantity({ platform, out }: Context, { quantity }: Before): Promise<void> {
  const web = await findWeb(platform)
  if (quantity === undefined || !web || web.quantity === quantity) return
  await platform.scaleWeb(quantity)
  out.progress(`processes: ${quantity}, as before`)
}
