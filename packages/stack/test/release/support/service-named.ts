import { type Service, services } from '../../../src/application/services.ts'

/** @throws {Error} if `services.json` does not have the service */
export function serviceNamed(role: string): Service {
  const service = services.find((each) => each.role === role)
  if (!service) throw new Error(`unknown service ${role}`)
  return service
}
