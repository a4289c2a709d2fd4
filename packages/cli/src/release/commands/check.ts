import { ensureImages } from '../../containers/images.ts'
import { baseImage, daprdImage, nodeImage } from '../../lib/image-names.ts'
import { requireBoot } from '../image/boot-check.ts'
import { buildImage, requireAcceptable, requireEngine } from '../image/image.ts'
import { ReleaseError } from '../lib/error.ts'
import { type Change, changesBetween, describeChange } from '../platform/change.ts'
import { type App, findWeb } from '../platform/platform.ts'
import type { Before } from '../record/journal.ts'
import { type ConfigVars, secretsOf } from '../settings/config-vars.ts'
import type { Context } from './context.ts'
import { requireConfigVars } from './gather.ts'

/** What a release will do, once everything that can be checked beforehand was found in order. */
export interface Plan {
  app: App
  /** The name under which the image is pushed. */
  image: string
  /** The id of the image that was checked. */
  imageId: string
  changes: Change[]
  before: Before
}

/**
 * Checks all that a release needs, from the quickest to the slowest, and changes nothing outside this machine.
 * @throws {ReleaseError} at the first thing that is missing
 */
export async function check(context: Context): Promise<Plan> {
  const { service, operator, out, signal } = context
  const vars = await requireConfigVars(service, context.env, out)
  out.progress(`settings: ${Object.keys(vars).length} config vars, complete`)

  const { app, plan } = await checkPlatform(context, vars)
  out.progress(`platform: ${operator.app} is a container app at ${operator.apiUrl}`)

  await context.registry.requireAccess()
  const engine = await requireEngine(operator.registry, signal)
  out.progress(`docker: engine ${engine}, logged in to ${operator.registry}`)

  await ensureImages({ onProgress: out.progress, signal }, [baseImage, nodeImage, daprdImage])
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
    throw new ReleaseError('platform', `${operator.app} is no container app, its stack is ${stack}`, {
      nextStep: `heroku stack:set container --app ${operator.app}, or another APP`,
    })
  }
  const current = await platform.configVars()
  out.hide(secretsOf(current))
  const other = current.App__Name
  if (other !== undefined && other !== service.appName) {
    throw new ReleaseError('platform', `${operator.app} is the app of ${other}; every service needs one of its own`, {
      nextStep: `another APP for ${service.appName}`,
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

/** Shows what will happen; config vars as a diff, secrets masked. */
export function showPlan({ operator, out, service }: Context, { changes, image, before, app }: Plan): void {
  out.print()
  out.print(
    `${service.appName} -> ${operator.app} (${before.release ? `now v${before.release.version}` : 'no release yet'})`,
  )
  out.print(`  config vars: ${changes.length === 0 ? 'no change' : ''}`.trimEnd())
  for (const change of changes) out.print(`    ${describeChange(change)}`)
  out.print(`  push ${image}`)
  out.print(`  release it as process type web${startNote(before, service.replicas)}`)
  out.print(`  wait until ${app.web_url ?? 'it'} answers`)
  out.print()
}

function startNote({ quantity }: Before, replicas: number): string {
  if (quantity === undefined) return `, and run it ${replicas} ${replicas === 1 ? 'time' : 'times'}`
  return quantity === 0 ? ', and start it: it is stopped now' : ''
}

/** Of the classic builder, and of BuildKit. */
const isBuildStep = (line: string) => /^(Step \d+\/|#\d+ \[)/.test(line)

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
