import { join } from 'node:path'
import { repository } from '../../lib/paths.ts'
import { services as registered } from '../../lib/services.ts'

export interface Service {
  /** Its name in commands, such as `order` in `./orderflow release order`. */
  name: string
  /** Its App.Name and its Dapr app-id. */
  appName: string
  /** Its folder in the repository. */
  folder: string
  /** How many of it a release starts where none ran. */
  replicas: number
}

/** Those of `services.json`, in its order. */
export const services: readonly Service[] = registered.map(({ name: appName, role: name, folder, replicas }) => ({
  name,
  appName,
  folder,
  replicas,
}))

export function findService(name: string): Service | undefined {
  return services.find((service) => service.name === name)
}

/** Its folder on this machine. */
export function folderOf(service: Service): string {
  return join(repository, service.folder)
}
