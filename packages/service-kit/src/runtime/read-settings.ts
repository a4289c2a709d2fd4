import type { ServiceDefinition } from './define-service.ts'
import { type BaseSettings, loadSettings } from './settings.ts'

/**
 * A service's `appsettings.json` with the environment over it; see `loadSettings`.
 * @throws {SettingsError} listing every problem with the variable that mends it
 */
export function readSettings<S extends object>(
  { root, sections = {} as Record<string, never> }: Pick<ServiceDefinition<S>, 'root' | 'sections'>,
  env: NodeJS.ProcessEnv,
): BaseSettings & S {
  return loadSettings<BaseSettings & S>(new URL('appsettings.json', root), sections, env)
}
