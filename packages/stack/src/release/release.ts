import { images } from '../application/images.ts'
import { CliError } from '../base/error.ts'
import { ensureImages } from '../containers/images.ts'
import { type Change, type ConfigVars, changesBetween, describeChange, patchOf, secretsOf } from './config-vars.ts'
import type { Context } from './context.ts'
import { requireConfigVars } from './gather.ts'
import { buildImage, pushImage, requireAcceptable, requireBoot, requireEngine } from './image.ts'
import { requireLive } from './live.ts'
import { type App, findWeb } from './platform/platform.ts'
import type { Before } from './record.ts'

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

/** Carries out the release. All steps can be repeated, so the next release continues an interrupted one. */
async function carryOut(context: Context, plan: Plan, changed: string[]): Promise<void> {
  const { platform, registry, journal, out, signal } = context
  const { changes, image, imageId, app } = plan
  const before = journal.begin(plan.before, new Date())
  out.progress('image: pushing')
  await pushImage(imageId, image, { onLine: (line) => /: Pushed$/.test(line) && out.print(`         ${line}`), signal })
  const digest = await registry.imageDigest(imageId)
  out.progress(`image: pushed, ${digest.slice(0, 19)}`)

  // The platform restarts the present image with changed config vars. So only the release of the new image may follow, which takes a second.
  if (changes.length > 0) {
    await step('config vars', changed, () => platform.patchConfigVars(patchOf(changes)))
    out.progress(`config vars: ${changes.length} set`)
  }
  const previous = await platform.newestRelease()
  await step('image', changed, () => platform.releaseImage(digest))
  // The platform automatically starts one process for an app's first image.
  if (!before.quantity) await step('number of processes', changed, () => platform.scaleWeb(context.service.replicas))
  const newest = await platform.newestRelease()
  out.progress(
    newest?.id === previous?.id ? 'release: unchanged, it already has this image' : `release: v${newest?.version}`,
  )

  const version = await requireLive(context, app)
  journal.finish(version, new Date())
  out.progress(`live: v${version}`)
  out.print()
  out.print(app.web_url ?? '')
}

/** Runs a step and adds its name to `changed`, with “perhaps” if the platform did not answer. */
async function step(what: string, changed: string[], work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
    changed.push(what)
  } catch (error) {
    if (error instanceof CliError && error.status === undefined) changed.push(`${what} (perhaps)`)
    throw error
  }
}

function withWayBack(error: unknown, { service, operator }: Context, changed: string[]): unknown {
  if (!(error instanceof CliError)) return error
  const { code, message, nextStep, status } = error
  const what = changed.length > 0 ? `changed so far: ${changed.join(', ')}` : 'nothing was changed in this run'
  const again = `./orderflow release ${service.role} --app ${operator.app} continues, ./orderflow rollback ${service.role} --app ${operator.app} undoes it`
  return new CliError(code, `${message}\n${what}`, {
    nextStep: [nextStep, again].filter(Boolean).join('\n      '),
    ...(status !== undefined && { status }),
    cause: error,
  })
}

interface Plan {
  app: App
  image: string
  imageId: string
  changes: Change[]
  before: Before
}

/** Checks all conditions of a release, and begins with the fastest checks. */
async function check(context: Context): Promise<Plan> {
  const { service, operator, out, signal } = context
  const vars = await requireConfigVars(service, context.env, out)
  out.progress(`settings: ${Object.keys(vars).length} config vars, complete`)

  const { app, plan } = await checkPlatform(context, vars)
  out.progress(`platform: ${operator.app} is a container app at ${operator.apiUrl}`)

  await context.registry.requireAccess()
  const engine = await requireEngine(operator.registry, signal)
  out.progress(`docker: engine ${engine}, logged in to ${operator.registry}`)

  await ensureImages({ onProgress: out.progress, signal }, [images.base, images.node, images.daprd])
  const image = `${operator.registry}/${operator.app}/web`
  out.progress(`image: building ${image}`)
  const imageId = await buildImage(service, image, {
    onLine: (line) => isBuildStep(line) && out.print(`         ${line.slice(0, 100)}`),
    signal,
  })
  const size = await requireAcceptable(imageId)
  out.progress(`image: ${imageId.slice(0, 19)}, ${Math.round(size / 1e6)} MB, linux/amd64, not root`)

  const { bootMs, stopMs } = await requireBoot(operator.app, imageId, signal)
  out.progress(`image: up on $PORT with its sidecar after ${seconds(bootMs)}, stops in ${seconds(stopMs)}`)
  return { app, image, imageId, ...plan }
}

async function checkPlatform({ platform, operator, service, out }: Context, vars: ConfigVars) {
  const app = await platform.app()
  const stack = (app.build_stack ?? app.stack)?.name
  if (stack !== 'container') {
    throw new CliError('platform', `${operator.app} is not a container app; its stack is ${stack}`, {
      nextStep: `run heroku stack:set container --app ${operator.app}, or set another APP`,
    })
  }
  const current = await platform.configVars()
  out.hide(secretsOf(current))
  const other = current.App__Name
  if (other !== undefined && other !== service.name) {
    throw new CliError('platform', `${operator.app} is the app of ${other}; every service needs its own app`, {
      nextStep: `set another APP for ${service.name}`,
    })
  }
  const changes = changesBetween(current, vars)
  const release = await platform.newestRelease()
  const quantity = (await findWeb(platform))?.quantity
  const before: Before = {
    ...(release && { release: { id: release.id, version: release.version } }),
    ...(quantity !== undefined && { quantity }),
    configVars: Object.fromEntries(Object.keys(vars).map((name) => [name, current[name] ?? null])),
  }
  return { app, plan: { changes, before } }
}

function showPlan({ operator, out, service }: Context, { changes, image, before, app }: Plan): void {
  out.print()
  out.print(
    `${service.name} -> ${operator.app} (${before.release ? `now v${before.release.version}` : 'no release yet'})`,
  )
  out.print(`  push ${image}`)
  out.print(`  config vars: ${changes.length === 0 ? 'no change' : ''}`.trimEnd())
  for (const change of changes) out.print(`    ${describeChange(change)}`)
  out.print(`  release it as process type web${startNote(before, service.replicas)}`)
  out.print(`  wait until ${app.web_url ?? 'it'} answers`)
  out.print()
}

function startNote({ quantity }: Before, replicas: number): string {
  if (quantity === undefined) return `, and run it ${replicas} ${replicas === 1 ? 'time' : 'times'}`
  return quantity === 0 ? ', and start it, because it is stopped' : ''
}

/** Matches the lines of steps in the output of Docker's classic builder and BuildKit. */
const isBuildStep = (line: string) => /^(Step \d+\/|#\d+ \[)/.test(line)

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
