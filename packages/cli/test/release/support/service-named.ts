import { findService, type Service } from '../../../src/release/settings/services.ts'

/** @throws where `services.json` has no such service */
export function serviceNamed(name: string): Service {
  const service = findService(name)
  if (!service) throw new Error(`there is no service ${name}`)
  return service
}
