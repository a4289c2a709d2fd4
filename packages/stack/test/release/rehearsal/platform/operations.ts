import { type DynoOptions, restart, restarted, stop } from './dynos.ts'
import { Failure } from './failure.ts'
import { logLine } from './log.ts'
import { type AppState, addRelease, current, type Image, type ReleaseState } from './state.ts'

/** Returns a pushed image by the digest of its configuration, or undefined for an unknown or unsupported image. */
export type FindImage = (app: string, digest: string) => Promise<Image | undefined>

export interface FormationUpdate {
  type: string
  quantity?: number | string
  docker_image?: string
}

export function createOperations(options: DynoOptions & { findImage: FindImage }) {
  const { findImage } = options

  const deploy = (
    app: AppState,
    ...change: Parameters<typeof addRelease> extends [AppState, ...infer Rest] ? Rest : never
  ) => {
    const release = addRelease(app, ...change)
    logLine(app, { source: 'app', dyno: 'api', text: `Release v${release.version} created: ${release.description}` })
    restart(app, options)
    return release
  }

  return {
    patchConfigVars(app: AppState, patch: Record<string, string | null>): void {
      const before = current(app).configVars
      const kept = Object.entries({ ...before, ...patch }).filter(
        (entry): entry is [string, string] => entry[1] !== null,
      )
      const configVars = Object.fromEntries(kept)
      const changed = Object.keys(patch).filter((name) => before[name] !== configVars[name])
      if (changed.length > 0) deploy(app, `Set ${changed.join(', ')} config vars`, { configVars })
    },

    async updateFormation(app: AppState, updates: FormationUpdate[]): Promise<void> {
      for (const { type, quantity, docker_image: digest } of updates) {
        if (type !== 'web') throw new Failure(404, 'not_found', `Couldn't find that process type (${type}).`)
        if (digest !== undefined) await release(app, digest)
        if (quantity !== undefined) await scale(app, Number(quantity))
      }
    },

    removeImage(app: AppState): void {
      if (app.quantity === undefined) throw new Failure(404, 'not_found', "Couldn't find that formation.")
      app.quantity = undefined
      deploy(app, 'Removed web', { image: undefined })
    },

    rollBack(app: AppState, id: string): ReleaseState {
      const target = app.releases.find((candidate) => candidate.id === id)
      if (!target) throw new Failure(404, 'not_found', "Couldn't find that release.")
      const { image, configVars, version } = target
      if (!image) throw new Failure(422, 'invalid_params', `v${version} is not eligible for rollback.`)
      return deploy(app, `Rollback to v${version}`, { image, configVars })
    },

    async stopDynos(app: AppState, name: string): Promise<void> {
      await restarted(app)
      const named = app.dynos.filter((dyno) => dyno.name === name || dyno.name.startsWith(`${name}.`))
      if (named.length === 0) throw new Failure(404, 'not_found', "Couldn't find that process.")
      await Promise.all(named.map((dyno) => stop(app, dyno)))
    },
  }

  /** Releases an image, unless the app already has it. */
  async function release(app: AppState, digest: string): Promise<void> {
    if (current(app).image?.digest === digest) return
    const image = await findImage(app.name, digest)
    if (!image) throw new Failure(404, 'not_found', `Couldn't find docker image ${digest}.`)
    app.quantity ??= 1
    deploy(app, `Deployed web (${digest.slice(7, 19)})`, { image })
  }

  async function scale(app: AppState, quantity: number): Promise<void> {
    await restarted(app)
    if (app.quantity === undefined) throw new Failure(404, 'not_found', "Couldn't find that process type (web).")
    const isRunning = app.dynos.filter(({ state }) => state === 'up' || state === 'starting').length === quantity
    app.quantity = quantity
    if (!isRunning) restart(app, options)
  }
}
