import type { AppState, DynoState, ReleaseState } from './state.ts'
import { current } from './state.ts'

/** The API's objects, with the fields of its public schema that apply to an app of containers. */

const owner = { id: '01234567-89ab-cdef-0123-456789abcdef', email: 'operator@example.com' }
const appOf = ({ id, name }: AppState) => ({ id, name })

export const account = { ...owner, name: 'Operator', verified: true, two_factor_authentication: false }

export function appObject(app: AppState) {
  const stack = { id: app.id, name: app.stack }
  return {
    ...appOf(app),
    acm: false,
    archived_at: null,
    build_stack: stack,
    stack,
    created_at: app.createdAt,
    updated_at: current(app).createdAt,
    released_at: current(app).createdAt,
    generation: { id: app.id, name: 'cedar' },
    git_url: '',
    maintenance: false,
    owner,
    organization: null,
    process_tier: 'basic',
    region: { id: app.id, name: 'rehearsal' },
    space: null,
    web_url: app.webUrl,
  }
}

export function releaseObject(app: AppState, release: ReleaseState) {
  return {
    id: release.id,
    version: release.version,
    description: release.description,
    status: 'succeeded',
    current: release === current(app),
    eligible_for_rollback: release.image !== undefined,
    app: appOf(app),
    user: owner,
    slug: null,
    oci_image: null,
    artifacts: [],
    addon_plan_names: [],
    output_stream_url: null,
    created_at: release.createdAt,
    updated_at: release.createdAt,
  }
}

export function formationObjects(app: AppState) {
  if (app.quantity === undefined) return []
  const { image, createdAt } = current(app)
  return [
    {
      id: app.id,
      type: 'web',
      quantity: app.quantity,
      size: 'Basic',
      dyno_size: { id: app.id, name: 'Basic' },
      command: '',
      docker_image: image ? { id: image.digest } : null,
      app: appOf(app),
      created_at: createdAt,
      updated_at: createdAt,
    },
  ]
}

export function dynoObject(app: AppState, dyno: DynoState) {
  return {
    id: dyno.id,
    name: dyno.name,
    type: 'web',
    state: dyno.state,
    size: 'Basic',
    command: '',
    attach_url: null,
    release: { id: dyno.release.id, version: dyno.release.version },
    app: appOf(app),
    created_at: dyno.updatedAt,
    updated_at: dyno.updatedAt,
  }
}
