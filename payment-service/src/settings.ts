import { type BaseSettings, loadSettings, section } from '@orderflow/service-kit/settings'

export interface Settings extends BaseSettings {
  Policy: { ApproveUpTo: number }
}

/** The largest amount an event may say (envelope-schema/schemas/common.json). */
const maxAmount = 1e12

/** `appsettings.json` with the environment over it; see `loadSettings`. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const sections = { Policy: section({ ApproveUpTo: { type: 'number', minimum: 0, maximum: maxAmount } }) }
  return loadSettings<Settings>(new URL('../appsettings.json', import.meta.url), sections, env)
}
