import { type BaseSettings, loadSettings, section } from '@orderflow/service-kit'

export interface Settings extends BaseSettings {
  Policy: { ApproveUpTo: number }
}

/** `appsettings.json` with the environment over it; see `loadSettings`. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const sections = { Policy: section({ ApproveUpTo: { type: 'number', minimum: 0 } }) }
  return loadSettings<Settings>(new URL('../appsettings.json', import.meta.url), sections, env)
}
