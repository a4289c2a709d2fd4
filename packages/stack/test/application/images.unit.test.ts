import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { everyStackImage, images, testImages } from '../../src/application/images.ts'
import { repository } from '../../src/application/paths.ts'
import { postgresqlFile } from '../../src/containers/project.ts'
import { recipeOf } from '../../src/containers/recipes.ts'

/** Options of the YAML parser, with Compose's tag `!reset`. */
const parsing = { merge: true, customTags: [{ tag: '!reset', resolve: () => null }] }
const read = (...path: string[]) => readFileSync(join(...path), 'utf8')

/** Returns the base images of a Dockerfile, without the stages that it defines. */
function startsFrom(dockerfile: string, args: Record<string, string> = {}): string[] {
  const stages = [...dockerfile.matchAll(/^FROM (\S+)(?: AS (\S+))?$/gm)]
  const own = new Set(stages.map(([, , name]) => name))
  const found = stages.map(([, image = '']) => image.replace(/^\$(\w+)$/, (_all, name) => args[name] ?? ''))
  return [...new Set(found)].filter((image) => !own.has(image) && image !== 'scratch')
}

describe('external images', () => {
  it('match those that the Compose files and Dockerfile use', () => {
    const composed = ['docker-compose.yml', postgresqlFile].flatMap((file) => {
      const { services } = parse(read(repository, file), parsing) as { services: Record<string, { image?: string }> }
      return Object.values(services).flatMap((service) => service?.image ?? [])
    })
    const others = composed.filter((image) => !image.startsWith('localhost/'))
    const named = new Set([...others, ...startsFrom(read(repository, 'Dockerfile'))])
    expect([...named].sort()).to.deep.equal(
      [...everyStackImage, images.jaeger, images.prometheus, images.grafana].toSorted(),
    )
  })

  it('include Testcontainers’ reaper in the version that testcontainers requires', () => {
    const reaper = read(repository, 'node_modules/testcontainers/build/reaper/reaper.js')
    const [, image] = /"(testcontainers\/ryuk:[^"]+)"/.exec(reaper) ?? []
    expect(testImages).to.include(image)
  })

  for (const [index, image] of [...testImages, images.prometheus].entries()) {
    const { folder, from, args } = recipeOf(image)
    it(`${image} is built after its base images, which its recipe lists`, () => {
      const dockerfile = from.length > 0 ? read(folder, 'Dockerfile') : ''
      expect(startsFrom(dockerfile, args)).to.have.members(from)
      expect(testImages.slice(0, index)).to.include.members(from)
    })
  }
})
