import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../lib/paths.ts'

/**
 * What each image of others must be when it is pulled; an empty digest takes what the tag names. Renovate writes them, which reaches
 * Docker Hub. They stand apart from docker-compose.yml and Dockerfile, where only the tag is: an image that is built here because
 * none can be pulled has no digest that could be known before.
 */
export const imageDigests = JSON.parse(
  readFileSync(join(repository, 'packages/cli/image-digests.json'), 'utf8'),
) as Record<string, string>
