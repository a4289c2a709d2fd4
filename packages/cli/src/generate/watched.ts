import { services } from '../lib/services.ts'

/** `services.json` of a service that watches the others: what they consume and publish, and where they are on one machine. */
export function watchedFile(): string {
  const content = {
    $comment:
      'Generated from services.json of the repository by make generate: an image has the folder of one service.',
    services: services.map(({ name, consumes, publishes, http }) => ({
      name,
      consumes: Object.keys(consumes),
      publishes,
      http,
    })),
  }
  return `${JSON.stringify(content, null, 2)}\n`
}
