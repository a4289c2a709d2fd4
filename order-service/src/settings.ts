import { type BaseSettings, loadSettings } from '@orderflow/service-kit/settings'

export type Settings = BaseSettings

/** `appsettings.json` with the environment over it; see `loadSettings`. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  return loadSettings<Settings>(new URL('../appsettings.json', import.meta.url), {}, env)
}
