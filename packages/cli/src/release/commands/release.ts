import { pushImage } from '../image/image.ts'
import { ReleaseError } from '../lib/error.ts'
import { patchOf } from '../platform/change.ts'
import { check, type Plan, showPlan } from './check.ts'
import type { Context } from './context.ts'
import { requireLive } from './live.ts'

/** `./orderflow release order`: checks, shows what it will do, does it, and waits until the app is live. */
export async function release(context: Context, options: { dryRun: boolean }): Promise<void> {
  const plan = await check(context)
  showPlan(context, plan)
  if (options.dryRun) return context.out.print('dry run: nothing was changed')
  const changed: string[] = []
  try {
    await carryOut(context, plan, changed)
  } catch (error) {
    throw withWayBack(error, context, changed)
  }
}

/** Every step may be done twice, so that a release which was killed anywhere is finished by the next one. */
async function carryOut(context: Context, plan: Plan, changed: string[]): Promise<void> {
  const { platform, registry, journal, out, signal } = context
  const { changes, image, imageId, app } = plan
  const before = journal.begin(plan.before, new Date())
  if (changes.length > 0) {
    await step('config vars', changed, () => platform.patchConfigVars(patchOf(changes)))
    out.progress(`config vars: ${changes.length} set`)
  }

  out.progress('image: pushing')
  await pushImage(imageId, image, { onLine: (line) => /: Pushed$/.test(line) && out.print(`         ${line}`), signal })
  const digest = await registry.imageDigest(imageId)
  out.progress(`image: pushed, ${digest.slice(0, 19)}`)

  const previous = await platform.newestRelease()
  await step('image', changed, () => platform.releaseImage(digest))
  // The platform itself starts one process of a first image.
  if (!before.quantity) await step('number of processes', changed, () => platform.scaleWeb(context.service.replicas))
  const newest = await platform.newestRelease()
  out.progress(
    newest?.id === previous?.id ? 'release: unchanged, it is this image already' : `release: v${newest?.version}`,
  )

  const version = await requireLive(context, app)
  journal.finish(version, new Date())
  out.progress(`live: v${version}`)
  out.print()
  out.print(app.web_url ?? '')
}

/** Notes what was changed; and when no answer came, what perhaps was. */
async function step(what: string, changed: string[], work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
    changed.push(what)
  } catch (error) {
    if (error instanceof ReleaseError && error.status === undefined) changed.push(`${what} (perhaps)`)
    throw error
  }
}

function withWayBack(error: unknown, { service, operator }: Context, changed: string[]): unknown {
  if (!(error instanceof ReleaseError)) return error
  const { code, message, nextStep, status } = error
  const what = changed.length > 0 ? `changed so far: ${changed.join(', ')}` : 'nothing was changed in this run'
  const again = `./orderflow release ${service.name} --app ${operator.app} goes on, ./orderflow rollback ${service.name} --app ${operator.app} goes back`
  return new ReleaseError(code, `${message}\n${what}`, {
    nextStep: [nextStep, again].filter(Boolean).join('\n      '),
    ...(status !== undefined && { status }),
    cause: error,
  })
}
