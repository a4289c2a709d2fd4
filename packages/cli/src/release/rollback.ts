import { CliError } from '../lib/error.ts'
import { type Change, changesBetween, describeChange, patchOf, secretsOf } from './config-vars.ts'
import type { Context } from './context.ts'
import { requireLive } from './live.ts'
import { findWeb } from './platform.ts'
import type { Before } from './record.ts'

/**
 * `./orderflow rollback NAME`: brings an app back to how it was before its last release from this folder: image, config vars and
 * number of processes. Interrupted, it may be run again.
 * @throws {CliError} `usage` when no release is on record
 */
export async function rollback(context: Context, options: { dryRun: boolean }): Promise<void> {
  const { operator, journal, platform, out } = context
  const entry = journal.read()
  if (!entry) {
    throw new CliError('usage', `no release of ${operator.app} was made from this folder, or it was rolled back`, {
      nextStep: 'to an older release: heroku releases:rollback',
    })
  }
  const { before } = entry
  out.hide(secretsOf(before.configVars))
  out.hide(secretsOf(await platform.configVars()))
  const newest = await platform.newestRelease()
  const { length } = await changesToUndo(context, before)
  out.print(
    `${operator.app}: v${newest?.version} -> as it was ${before.release ? `at v${before.release.version}` : 'without a release'}`,
  )
  out.print(
    `  ${length} config vars change; ${before.quantity === undefined ? 'the image is taken away' : 'the image of then'}`,
  )
  if (entry.finished && newest && newest.version > entry.finished.version) {
    out.complain(
      `warning: v${newest.version} (${newest.description}) is newer than that release, and is undone with it`,
    )
  }
  if (options.dryRun) return out.print('dry run: nothing was changed')

  if (before.quantity === undefined || !before.release) await removeRelease(context)
  else await goBackTo(before.release.id, context)
  await restoreConfigVars(context, before)
  await restoreQuantity(context, before)

  if (before.quantity) out.progress(`live: v${await requireLive(context, await platform.app())}`)
  journal.remove()
  out.progress('rolled back')
}

async function goBackTo(releaseId: string, { platform, out }: Context): Promise<void> {
  const { version } = await platform.rollBack(releaseId)
  out.progress(`release: v${version}, the image and config vars of then`)
}

/** Before the first image there was nothing to run, and there is no release to go back to. */
async function removeRelease({ platform, out }: Context): Promise<void> {
  if (await findWeb(platform)) await platform.removeImage()
  out.progress('release: the image is taken away')
}

/** A release brings its config vars along; what differs still is set. */
async function restoreConfigVars(context: Context, before: Before): Promise<void> {
  const changes = await changesToUndo(context, before)
  if (changes.length === 0) return
  await context.platform.patchConfigVars(patchOf(changes))
  for (const change of changes) context.out.print(`    ${describeChange(change)}`)
  context.out.progress(`config vars: ${changes.length} set back`)
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
